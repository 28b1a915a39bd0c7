import { InvalidArgumentError, type Command } from 'commander'
import { equal } from '../../../packages/kernel/ports/reads.ts'
import { monthPattern } from '../../../packages/kernel/time/calendar.ts'
import { balances } from '../../../projections/balances.ts'
import { monthOfMerchant, type Month } from '../../composition/books/close-month.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { idOf } from '../terminal/arguments.ts'
import { CommandFailedError, exitCodes } from '../terminal/failure.ts'
import { counted, type Printing } from '../terminal/output.ts'
import { printableLines } from '../terminal/printable.ts'

export interface MonthOptions extends Printing {
  readonly merchant?: string
  readonly sandbox?: true
  readonly timeZone?: string
  readonly knownAt?: Date
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
  if (new RegExp(monthPattern).test(text)) return text
  throw new InvalidArgumentError('It must be a month such as 2026-10.')
}

export function zone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    throw new InvalidArgumentError('It must be a time zone such as Africa/Dakar.')
  }
}

/** The merchants that a command is about, each with the currencies of its books. */
async function merchantsOf(
  { dependencies }: Runtime,
  { merchant, sandbox }: MonthOptions,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await allRows<{ merchant: string; currency: string }>(dependencies.reads, {
    from: balances.name,
    where: equal({ livemode: sandbox !== true, ...(merchant && { merchant }) }),
    order: 'merchant',
  })
  const books = new Map<string, string[]>()
  for (const row of rows) books.set(row.merchant, [...(books.get(row.merchant) ?? []), row.currency])
  if (books.size === 0) throw new CommandFailedError('There are no books of this environment.')
  return books
}

interface Asked extends MonthOptions {
  readonly month: string
}

async function monthOf(
  { dependencies }: Runtime,
  { month, sandbox, timeZone, knownAt }: Asked,
  [merchant, currencies]: readonly [string, readonly string[]],
): Promise<Month | undefined> {
  const owner = { merchant, livemode: sandbox !== true, actor: 'cli' }
  const asked = { ...owner, month, timeZone, knownAt, currencies: currencies.toSorted() }
  const found = await monthOfMerchant(dependencies, asked)
  if (!found && knownAt === undefined) throw new CommandFailedError('There is no such merchant.')
  return found
}

interface Failed {
  readonly merchant: string
  readonly problem: string
}

export interface OfMerchants<Result> {
  readonly done: readonly Result[]
  readonly failed: readonly Failed[]
}

/** Month by month: what cannot be done for one merchant keeps no other one from it. */
export async function eachMonth<Result>(
  runtime: Runtime,
  asked: Asked,
  work: (month: Month) => Promise<Result>,
): Promise<OfMerchants<Result>> {
  const done: Result[] = []
  const failed: Failed[] = []
  for (const one of await merchantsOf(runtime, asked)) {
    try {
      const found = await monthOf(runtime, asked, one)
      // A merchant that nobody knew of then has no month.
      if (found) done.push(await work(found))
    } catch (error) {
      failed.push({ merchant: one[0], problem: (error as Error).message })
    }
  }
  return { done, failed }
}

/** Says for which merchants it was not done; when for none at all, it is the command that failed. */
export function tellFailed({ done, failed }: OfMerchants<unknown>): void {
  if (failed.length === 0) return
  const problems = failed.map(({ merchant, problem }) => `${merchant}: ${problem}`).join('\n')
  if (done.length === 0) throw new CommandFailedError(problems)
  const text = `Not done for ${counted(failed.length, 'merchant')}:\n${problems}\n`
  process.stderr.write(printableLines(text))
  process.exitCode = exitCodes.found
}

const rowsMax = 100_000

async function allRows<Row>(reads: Runtime['dependencies']['reads'], query: object): Promise<readonly Row[]> {
  const asked = { ...query, limit: rowsMax } as Parameters<typeof reads.page>[0]
  const { rows } = await reads.page<Row>(asked)
  if (rows.length === rowsMax)
    throw new CommandFailedError('There are too many books for one run: name --merchant.')
  return rows
}
