import { createReadStream, createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { bookId, parseBookId, type BookKey } from '../../../packages/domain/ledger/accounts.ts'
import { merchant as merchantDecider } from '../../../packages/domain/merchants/merchant.ts'
import { period, periodId, type ClosedBook, type Period } from '../../../packages/domain/periods/period.ts'
import { timeZoneOf } from '../../../packages/contract/locale/time-zones.ts'
import { dayOf } from '../../../packages/kernel/time/calendar.ts'
import { readStateKnown } from '../../../packages/kernel/history.ts'
import {
  filesOf,
  movementsOf,
  type BookWindow,
  type WrittenFile,
} from '../../composition/books/book-files.ts'
import { isBegun, knownBefore } from '../../composition/books/book-history.ts'
import { digestOf, type Month } from '../../composition/books/close-month.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { commandOf, time } from '../terminal/arguments.ts'
import { withRuntime } from '../dependencies.ts'
import { CommandFailedError, exitCodes } from '../terminal/failure.ts'
import { eachMonth, ofMonth, tellFailed, zone, type MonthOptions as Months } from './months.ts'
import { counted, print, type Printing } from '../terminal/output.ts'
import { upToDate, whileProjecting } from '../projecting.ts'
import { writeWhole } from '../../../infra/os/whole-file.ts'

interface Exported {
  readonly file: string
  readonly bytes: number
  /** Of the file; null where what was signed cannot be written any more. */
  readonly sha256: string | null
  /** Whether it is what was signed when the month was closed; null for what is open. */
  readonly isAsClosed: boolean | null
}

type MonthOptions = Months & { readonly directory: string }

export function addMonthExports(exports: Command): void {
  ofMonth(
    commandOf(
      exports,
      'month',
      'the files of a month, book by book; of a closed month always the same bytes',
    ),
  )
    .requiredOption('--directory <directory>', 'where to write them')
    .option('--known-at <time>', 'only what was known by then; it is compared with nothing', time)
    .action((month: string, options: MonthOptions) =>
      withRuntime((runtime) => exportMonth(runtime, month, options)),
    )
  commandOf(exports, 'day', "the files of one day of a book, in the merchant's time zone")
    .argument('<book>', '<merchant>.<live|test>.<CUR>')
    .argument('<day>', 'such as 2026-10-15')
    .requiredOption('--directory <directory>', 'where to write them')
    .option('--time-zone <zone>', "the merchant's country decides when left out", zone)
    .option('--known-at <time>', 'only what was known by then', time)
    .action((book: string, day: string, options: DayOptions) =>
      withRuntime((runtime) => exportDay(runtime, { book, day }, options)),
    )
}

async function exportMonth(runtime: Runtime, name: string, options: MonthOptions): Promise<void> {
  const written = await whileProjecting(runtime, async () => {
    await upToDate(runtime)
    return eachMonth(runtime, { month: name, ...options }, (month) => filesOfMonth(runtime, month, options))
  })
  tellFailed(written)
  report(written.done.flat(), options)
}

async function filesOfMonth(
  { dependencies }: Runtime,
  month: Month,
  { directory, knownAt }: MonthOptions,
): Promise<Exported[]> {
  const { merchant, livemode } = month
  const id = periodId(merchant, livemode, month.month)
  const known: Period = await readStateKnown(dependencies.store, period, { id, knownAt })
  const closed = known.status === 'closed' ? known : undefined
  const { from, to, merchantName } = closed ?? month
  const exported: Exported[] = []
  for (const currency of closed ? closed.books.map((book) => book.currency) : month.currencies) {
    const signed = closed?.books.find((book) => book.currency === currency)
    const book = { merchant, livemode, currency }
    const before = Math.min(signed?.before ?? Infinity, await knownBefore(dependencies, book, knownAt))
    // A book that was signed had entries: where it is gone, its files say so by being others.
    if (!signed && !(await isBegun(dependencies, book, before))) continue
    const target = { directory, ...(knownAt === undefined && { signed }) }
    exported.push(...(await writeBook(dependencies, { book, from, to, merchantName, before }, target)))
  }
  return exported
}

interface DayOptions extends Printing {
  readonly directory: string
  readonly timeZone?: string
  readonly knownAt?: Date
}

async function exportDay(
  runtime: Runtime,
  { book, day }: { book: string; day: string },
  options: DayOptions,
) {
  const { dependencies } = runtime
  const key = readBook(book)
  const { knownAt } = options
  const state = await readStateKnown(dependencies.store, merchantDecider, { id: key.merchant, knownAt })
  if (state.status === 'none')
    throw new CommandFailedError(`There is no merchant ${key.merchant}${knownAt ? ' by then' : ''}.`)
  const written = await whileProjecting(runtime, async () => {
    await upToDate(runtime)
    const window = {
      ...readDay(day, options.timeZone ?? timeZoneOf(state.country)),
      merchantName: state.name,
    }
    const before = await knownBefore(dependencies, key, knownAt)
    return writeBook(dependencies, { book: key, before, ...window }, options)
  })
  report(written, options)
}

function readBook(text: string): BookKey {
  try {
    return parseBookId(text)
  } catch {
    throw new CommandFailedError(`${text} is not <merchant>.<live|test>.<CUR>.`)
  }
}

function readDay(text: string, timeZone: string) {
  try {
    return dayOf(text, timeZone)
  } catch {
    throw new CommandFailedError(`${text} is not a day such as 2026-10-15.`)
  }
}

interface Target {
  readonly directory: string
  readonly signed?: ClosedBook | undefined
}

async function writeBook(
  stores: Runtime['dependencies'],
  window: BookWindow,
  { directory, signed }: Target,
): Promise<readonly Exported[]> {
  const { merchant, livemode, currency } = window.book
  const place = join(directory, bookId(merchant, livemode, currency))
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const exported: Exported[] = []
  for (const file of filesOf(stores, window, await movementsOf(stores, window))) {
    const path = join(place, file.name)
    const { bytes, sha256 } = await writeFile(path, file)
    const wanted = signed?.files.find(({ name }) => name === file.name)
    exported.push({ file: path, bytes, sha256, isAsClosed: wanted ? wanted.sha256 === sha256 : null })
  }
  for (const { name } of signed?.files ?? []) {
    const file = join(place, name)
    if (!exported.some((one) => one.file === file))
      exported.push({ file, bytes: 0, sha256: null, isAsClosed: false })
  }
  return exported
}

function writeFile(path: string, { content }: WrittenFile) {
  return writeWhole(path, async (partial) => {
    await pipeline(Readable.from(content), createWriteStream(partial, { mode: 0o600 }))
    // Of what stands there, whatever was meant to be written.
    return digestOf(createReadStream(partial, 'utf8'))
  })
}

function report(written: readonly Exported[], options: Printing): void {
  const changed = written.filter(({ isAsClosed }) => isAsClosed === false)
  print(written, options, () => {
    const lines = written.map(({ sha256, file }) => `${sha256 ?? 'not written'}  ${file}`)
    const isOpen = written.some(({ isAsClosed }) => isAsClosed === null)
    if (isOpen) lines.push('This is open: more may come.')
    for (const { file } of changed) lines.push(`${file} is not what was signed when the month was closed.`)
    return [counted(written.length, 'file'), ...lines].join('\n')
  })
  if (changed.length > 0) process.exitCode = exitCodes.found
}
