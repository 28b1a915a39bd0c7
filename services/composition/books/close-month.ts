import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import canonicalize from 'canonicalize'
import { bookCurrencies } from '../../../packages/contract/payments/catalog.ts'
import { bookId, isOneOf, type BookKey } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import {
  Closing,
  period,
  periodId,
  type ClosedBook,
  type Period,
} from '../../../packages/domain/periods/period.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { monthOf, type Window } from '../../../packages/kernel/time/calendar.ts'
import { timeZoneOf } from '../../../packages/contract/locale/time-zones.ts'
import { merchant as merchants } from '../../../packages/domain/merchants/merchant.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { readStateKnown } from '../../../packages/kernel/history.ts'
import type { SignedRoot } from '../../../packages/kernel/ports/proofs.ts'
import type { MerchantOwner } from '../../../packages/kernel/owner.ts'
import { filesOf, movementsOf, type Movement } from './book-files.ts'
import { isBegun } from './book-history.ts'

export interface Month extends MerchantOwner, Window {
  /** `2026-10`. */
  readonly month: string
  readonly timeZone: string
  readonly merchantName: string
  /** Currencies in which the merchant has a book. */
  readonly currencies: readonly string[]
  /** Who closes it. */
  readonly actor: string
}

export interface MonthAsked extends MerchantOwner, Pick<Month, 'month' | 'currencies' | 'actor'> {
  /** Left out: that of the merchant's country. */
  readonly timeZone?: string | undefined
  readonly knownAt?: Date | undefined
}

/** The days of a merchant's month; `undefined` where there is no such merchant, or was none known. */
export async function monthOfMerchant(
  { store }: Pick<Dependencies, 'store'>,
  { timeZone: asked, knownAt, ...month }: MonthAsked,
): Promise<Month | undefined> {
  const state = await readStateKnown(store, merchants, { id: month.merchant, knownAt })
  if (state.status === 'none') return undefined
  const timeZone = asked ?? timeZoneOf(state.country)
  return { ...month, timeZone, merchantName: state.name, ...monthOf(month.month, timeZone) }
}

/** Opening months while one is closed would leave it closed with its books open. */
export function monthsOfMerchant({ merchant, livemode }: MerchantOwner): string {
  return `months of ${merchant} ${livemode}`
}

/** What a month is counted from has not come yet. Closing it again goes on. */
export class NotCountableYetError extends Error {
  override readonly name = 'NotCountableYetError'
}

const patienceMsDefault = 60_000

/**
 * Closes the books first, so that nothing can come into the month any more, then counts it and signs what was
 * counted. Whoever is interrupted begins again: what is done decides nothing.
 */
export async function closeMonth(
  dependencies: Dependencies,
  month: Month,
  patienceMs = patienceMsDefault,
): Promise<Period> {
  const { executor, newId, store, reads } = dependencies
  const { merchant, livemode, actor, from, to, timeZone, merchantName } = month
  const envelope = { merchant, livemode, actor, correlation: newId() }
  const keys = booksOf(month)
  for (const key of keys) {
    const command = { type: 'CloseBook', data: { before: to } } as const
    await executor.send(book, bookId(key.merchant, key.livemode, key.currency), command, envelope)
  }
  const head = await store.head()
  // A reference that is not there yet would be left out of the files for ever.
  if (!(await reads.reached(head, patienceMs)))
    throw new NotCountableYetError(
      'The read models are behind the log: see `ikw parked list`, and close the month again.',
    )
  const { size, root } = await whenSigned(dependencies, head, patienceMs)
  const books: ClosedBook[] = []
  for (const key of keys)
    if (await isBegun(dependencies, key)) books.push(await closedBook(dependencies, key, month))
  const closing: Closing = { timeZone, from, to, books, checkpoint: { size, root: root.toString('base64') } }
  const data = { ...closing, merchantName, note: await noteOf(dependencies, month, closing) }
  const id = periodId(merchant, livemode, month.month)
  const { state } = await executor.send(period, id, { type: 'ClosePeriod', data }, envelope)
  return state as Period
}

/** Also books that have not begun: what is booked first, by a clock that is behind, is late there too. */
export function booksOf({ merchant, livemode, currencies }: Month): readonly BookKey[] {
  const all = [...new Set([...currencies, ...bookCurrencies])].sort()
  return all.map((currency) => ({ merchant, livemode, currency }))
}

const lookEveryMs = 50

/** A root of the log over all up to this position. */
export async function whenSigned(
  { logSignatures }: Pick<Dependencies, 'logSignatures'>,
  position: number,
  patienceMs = patienceMsDefault,
): Promise<SignedRoot> {
  const until = performance.now() + patienceMs
  for (;;) {
    const signed = await logSignatures.rootOver(position)
    if (signed) return signed
    if (performance.now() > until)
      throw new NotCountableYetError('The log is not signed: is its notary at work?')
    await pause(lookEveryMs)
  }
}

async function closedBook(stores: Dependencies, key: BookKey, month: Month): Promise<ClosedBook> {
  const before = await lengthOf(stores, key)
  const window = { book: key, merchantName: month.merchantName, from: month.from, to: month.to, before }
  const movements = await movementsOf(stores, window)
  const files = []
  for (const { name, content } of filesOf(stores, window, movements))
    files.push({ name, ...(await digestOf(content)) })
  const { currency } = key
  return { currency, before, entries: movements.entries, accounts: byKind(movements.accounts), files }
}

async function lengthOf({ store }: Dependencies, { merchant, livemode, currency }: BookKey): Promise<number> {
  const stream = streamName(book.category, bookId(merchant, livemode, currency))
  const pageSize = 1_000
  for (let from = 0; ; from += pageSize) {
    const { length } = await store.readStream(stream, from, pageSize)
    if (length < pageSize) return from + length
  }
}

/** SHA-256 in hexadecimal, and the length. */
export async function digestOf(content: AsyncIterable<string>) {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of content) {
    hash.update(piece)
    bytes += Buffer.byteLength(piece)
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Accounts that there may be many of: one for each customer, seller or contract. */
const many = [
  'wallet',
  'escrow.held',
  'escrow.disputed',
  'campaign',
  'seller.pending',
  'seller.available',
] as const

/** An event must not grow with the number of customers: `balances.csv` has each of their accounts. */
function byKind(accounts: readonly Movement[]): ClosedBook['accounts'] {
  const lines = new Map<string, ClosedBook['accounts'][number]>()
  for (const { account, opening, debits, credits, closing } of accounts) {
    const name = isOneOf(account, many) ? `${account.slice(0, account.indexOf(':'))}:*` : account
    const known = lines.get(name) ?? { account: name, opening: 0, debits: 0, credits: 0, closing: 0 }
    lines.set(name, {
      account: name,
      opening: known.opening + opening,
      debits: known.debits + debits,
      credits: known.credits + credits,
      closing: known.closing + closing,
    })
  }
  return [...lines.values()]
}

/** What is signed: the month by its name, and the digest of all that was counted. */
export function closingText(
  origin: string,
  { merchant, livemode, month }: Pick<Month, 'merchant' | 'livemode' | 'month'>,
  closing: Closing,
): string {
  const digest = createHash('sha256').update(canonicalize(closing)!).digest('base64')
  // Its first line is no name of a log, so nobody takes it for a checkpoint.
  return `${origin}/periods\n${periodId(merchant, livemode, month)}\n${digest}\n`
}

function noteOf(
  { logSignatures }: Pick<Dependencies, 'logSignatures'>,
  month: Month,
  closing: Closing,
): Promise<string> {
  return logSignatures.sign((origin) => closingText(origin, month, closing))
}
