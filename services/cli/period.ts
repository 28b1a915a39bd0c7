import { InvalidArgumentError, type Command } from 'commander'
import { currentSigner } from '../../infra/postgres/transparency/log-keys.ts'
import { lastCheckpoint } from '../../infra/postgres/transparency/tree-store.ts'
import { timeZoneOf } from '../../packages/contract/time-zones.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { merchant as merchantDecider } from '../../packages/domain/merchants/merchant.ts'
import { period, periodId, type Period } from '../../packages/domain/periods/period.ts'
import { monthOf } from '../../packages/kernel/calendar.ts'
import { readState } from '../../packages/kernel/history.ts'
import { equal } from '../../packages/kernel/read-ports.ts'
import { balances } from '../../projections/balances.ts'
import { closeMonth, type Month } from '../composition/close-month.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { runNotary } from '../notary/service.ts'
import { alone } from './alone.ts'
import { commandOf, idOf } from './arguments.ts'
import { withRuntime } from './dependencies.ts'
import { CommandFailedError } from './failure.ts'
import { grouped, print, table, type Printing } from './output.ts'
import { upToDate, whileProjecting } from './projecting.ts'
import { signed, type Signed } from './signed.ts'

interface MonthOptions extends Printing {
  readonly merchant?: string
  readonly sandbox?: true
  readonly timeZone?: string
}

export function addPeriod(program: Command): void {
  const group = program
    .command('period')
    .description('months that are closed: what came into them stays as it is')
  ofMonth(commandOf(group, 'close', 'close a month, count it and sign what was counted')).action(
    (month: string, options: MonthOptions) => withRuntime((runtime) => close(runtime, month, options)),
  )
  signed(ofMonth(commandOf(group, 'reopen', 'let entries count in a closed month again'))).action(
    (month: string, options: MonthOptions & Signed) =>
      withRuntime((runtime) => reopen(runtime, month, options)),
  )
}

export function ofMonth(command: Command): Command {
  return command
    .argument('<month>', 'such as 2026-10', monthName)
    .option('--merchant <id>', 'only this merchant; all when left out', idOf())
    .option('--sandbox', 'the sandbox instead of the live environment')
    .option(
      '--time-zone <zone>',
      "whose days the month has; the merchant's country decides when left out",
      zone,
    )
}

function monthName(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('It must be a month such as 2026-10.')
}

export function zone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    throw new InvalidArgumentError('It must be a time zone such as Africa/Dakar.')
  }
}

/** The merchants that a command is about, each with its month and the currencies of its books. */
export async function monthsOf(
  { dependencies }: Runtime,
  month: string,
  { merchant, sandbox, timeZone }: MonthOptions,
): Promise<readonly Month[]> {
  const livemode = sandbox !== true
  const rows = await allRows<{ merchant: string; currency: string }>(dependencies.reads, {
    from: balances.name,
    where: equal({ livemode, ...(merchant && { merchant }) }),
    order: 'merchant',
  })
  const books = new Map<string, string[]>()
  for (const row of rows) books.set(row.merchant, [...(books.get(row.merchant) ?? []), row.currency])
  const found: Month[] = []
  for (const [id, currencies] of books) {
    const state = await readState(dependencies.store, merchantDecider, id)
    if (state.status === 'none') throw new CommandFailedError(`There is no merchant ${id}.`)
    const days = timeZone ?? timeZoneOf(state.country)
    const owner = { merchant: id, livemode, merchantName: state.name, actor: 'cli' }
    found.push({
      ...owner,
      month,
      timeZone: days,
      currencies: currencies.toSorted(),
      ...monthOf(month, days),
    })
  }
  if (found.length === 0) throw new CommandFailedError('There are no books of this environment.')
  return found
}

const rowsMax = 100_000

async function allRows<Row>(reads: Runtime['dependencies']['reads'], query: object): Promise<readonly Row[]> {
  const asked = { ...query, limit: rowsMax } as Parameters<typeof reads.page>[0]
  const { rows } = await reads.page<Row>(asked)
  if (rows.length === rowsMax)
    throw new CommandFailedError('There are too many books for one run: name --merchant.')
  return rows
}

async function close(runtime: Runtime, month: string, options: MonthOptions): Promise<void> {
  const closed = await whileProjecting(runtime, async () => {
    await upToDate(runtime)
    const months = await monthsOf(runtime, month, options)
    const now = runtime.dependencies.clock().toISOString()
    const open = months.find(({ to }) => to > now)
    if (open) throw new CommandFailedError(`${month} is not over: it ends at ${open.to}.`)
    return whileNotarising(runtime, (closer) => each(months, (one) => closeOnce(runtime, closer, one)))
  })
  print(closed, options, () => closed.map(closedText).join('\n\n'))
}

type Closer = Parameters<typeof closeMonth>[0]

interface Closed {
  readonly period: string
  readonly state: Period
}

function closeOnce(runtime: Runtime, closer: Closer, month: Month): Promise<Closed> {
  const id = periodId(month.merchant, month.livemode, month.month)
  return alone(runtime, monthsOfMerchant(month), async () => {
    const known: Period = await readState(runtime.dependencies.store, period, id)
    return { period: id, state: known.status === 'closed' ? known : await closeMonth(closer, month) }
  })
}

/** Opening months while one is closed would leave it closed with its books open. */
function monthsOfMerchant({ merchant, livemode }: Pick<Month, 'merchant' | 'livemode'>): string {
  return `months of ${merchant} ${livemode}`
}

async function each<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await work(item))
  return results
}

const notaryMs = 60_000
const lookEveryMs = 50

/** Where no service runs, the notary runs here while the work takes. */
async function whileNotarising<Result>(
  runtime: Runtime,
  work: (closer: Closer) => Promise<Result>,
): Promise<Result> {
  const { postgres, dependencies, configuration } = runtime
  const { pool } = postgres
  const notary = runNotary(runtime)
  try {
    const notarised = async (position: number) => {
      const until = performance.now() + notaryMs
      while (((await lastCheckpoint(pool))?.position ?? 0) < position) {
        if (performance.now() > until)
          throw new CommandFailedError('The log is not signed: is its notary at work?')
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
      }
    }
    await notarised(await dependencies.store.head())
    const signer = await currentSigner({ pool, vault: dependencies.vault, baseUrl: configuration.baseUrl })
    return await work({ dependencies, pool, signer, notarised })
  } finally {
    await notary.close()
  }
}

function closedText({ period: id, state }: Closed): string {
  if (state.status === 'none') return `${id} is not closed.`
  const books = state.books.map(({ currency, entries, accounts, files }) => {
    const lines = accounts.map(({ account, opening, debits, credits, closing }) => {
      return { account, opening, debits, credits, closing }
    })
    const digests = files.map(({ name, sha256 }) => `${sha256}  ${name}`).join('\n')
    return `${currency}: ${grouped(entries)} entries\n${table(lines, 'Nothing moved.')}\n${digests}`
  })
  return [`${id} is ${state.status}, in the days of ${state.timeZone}.`, ...books, state.note].join('\n\n')
}

/** Months are opened from the last one back, because a book is closed up to one time. */
async function reopen(runtime: Runtime, month: string, options: MonthOptions & Signed): Promise<void> {
  const months = await whileProjecting(runtime, async () => {
    await upToDate(runtime)
    return monthsOf(runtime, month, options)
  })
  const reopened = await each(months, (one) =>
    alone(runtime, monthsOfMerchant(one), () => reopenOne(runtime, one, options)),
  )
  print(reopened, options, () => reopened.map((one) => `${one.period} is open again.`).join('\n'))
}

async function reopenOne({ dependencies }: Runtime, one: Month, { by, reason }: Signed) {
  const { executor, newId, store } = dependencies
  const { merchant, livemode, month, currencies } = one
  const id = periodId(merchant, livemode, month)
  const known: Period = await readState(store, period, id)
  if (known.status === 'none') throw new CommandFailedError(`${id} was never closed.`)
  const keys = currencies.map((currency) => bookId(merchant, livemode, currency))
  for (const key of keys) {
    const { closedBefore } = await readState(store, book, key)
    if (closedBefore !== undefined && closedBefore > known.to)
      throw new CommandFailedError(`Book ${key} is closed up to ${closedBefore}: open the later month first.`)
  }
  const envelope = { merchant, livemode, actor: `cli:${by}`, correlation: newId() }
  await executor.send(period, id, { type: 'ReopenPeriod', data: { by, reason } }, envelope)
  const data = { before: known.from }
  for (const key of keys) await executor.send(book, key, { type: 'ReopenBook', data }, envelope)
  return { period: id, status: 'reopened' }
}
