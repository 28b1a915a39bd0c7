import type { Command } from 'commander'
import { bookId } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import { period, periodId, type Period } from '../../../packages/domain/periods/period.ts'
import { readState } from '../../../packages/kernel/history.ts'
import { alone, type Turn } from '../../composition/alone.ts'
import {
  booksOf,
  closeMonth,
  monthsOfMerchant,
  whenSigned,
  type Month,
} from '../../composition/books/close-month.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { runNotary } from '../../notary/service.ts'
import { commandOf } from '../terminal/arguments.ts'
import { withRuntime } from '../dependencies.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { eachMonth, ofMonth, tellFailed, type MonthOptions } from './months.ts'
import { grouped, print, table } from '../terminal/output.ts'
import { upToDate, whileProjecting } from '../projecting.ts'
import { signed, type Signed } from '../audit/signed.ts'

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

async function close(runtime: Runtime, month: string, options: MonthOptions): Promise<void> {
  const closed = await whileProjecting(runtime, async () => {
    await upToDate(runtime)
    return whileNotarising(runtime, () =>
      eachMonth(runtime, { month, ...options }, (one) => closeOnce(runtime, one)),
    )
  })
  tellFailed(closed)
  print(closed.done, options, () => closed.done.map(closedText).join('\n\n'))
}

interface Closed {
  readonly period: string
  readonly state: Period
}

async function closeOnce(runtime: Runtime, month: Month): Promise<Closed> {
  const { dependencies } = runtime
  if (month.to > dependencies.clock().toISOString())
    throw new CommandFailedError(`${month.month} is not over: it ends at ${month.to}.`)
  const id = periodId(month.merchant, month.livemode, month.month)
  return alone(runtime, turnOf(month), async () => {
    const known: Period = await readState(dependencies.store, period, id)
    return { period: id, state: known.status === 'closed' ? known : await closeMonth(dependencies, month) }
  })
}

const turnOf = (month: Month): Turn => {
  return { name: monthsOfMerchant(month), what: 'closes or opens a month of this merchant' }
}

/** Where no service runs, the notary runs here while the work takes. */
async function whileNotarising<Result>(runtime: Runtime, work: () => Promise<Result>): Promise<Result> {
  const notary = runNotary(runtime)
  try {
    await whenSigned(runtime.dependencies, await runtime.dependencies.store.head())
    return await work()
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
  const reopened = await whileProjecting(runtime, async () => {
    await upToDate(runtime)
    return eachMonth(runtime, { month, ...options }, (one) =>
      alone(runtime, turnOf(one), () => reopenOne(runtime, one, options)),
    )
  })
  tellFailed(reopened)
  print(reopened.done, options, () => reopened.done.map((one) => `${one.period} is open again.`).join('\n'))
}

async function reopenOne({ dependencies }: Runtime, one: Month, { by, reason }: Signed) {
  const { executor, newId, store } = dependencies
  const { merchant, livemode, month } = one
  const id = periodId(merchant, livemode, month)
  const known: Period = await readState(store, period, id)
  if (known.status === 'none') throw new CommandFailedError(`${id} was never closed.`)
  const keys = booksOf(one).map(({ currency }) => bookId(merchant, livemode, currency))
  for (const key of keys) {
    const { closedBefore } = (await executor.current(book, key)).state
    if (closedBefore !== undefined && closedBefore > known.to)
      throw new CommandFailedError(`Book ${key} is closed up to ${closedBefore}: open the later month first.`)
  }
  const envelope = { merchant, livemode, actor: `cli:${by}`, correlation: newId() }
  await executor.send(period, id, { type: 'ReopenPeriod', data: { by, reason } }, envelope)
  const data = { before: known.from }
  for (const key of keys) await executor.send(book, key, { type: 'ReopenBook', data }, envelope)
  return { period: id, status: 'reopened' }
}
