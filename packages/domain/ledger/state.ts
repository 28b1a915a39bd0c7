import type { Cause } from '../../kernel/decider.ts'
import {
  clearingPayout,
  merchantAvailable,
  merchantPending,
  merchantReserved,
  type AccountCode,
} from './accounts.ts'
import type { Entry, LedgerEvents } from './events.ts'
import { outcomes, type Hold, type Outcome } from './holds.ts'
import { effect, sum } from './postings.ts'
import { Recent, type KeptRecent } from './recent.ts'
import { keepYoung, noteYoung, noYoung, takeYoung, youngIn, type Aging } from './young.ts'

/** A card payment that is not released yet. */
export interface PendingPayment {
  /** Its part of merchant.pending. */
  amount: number
  /** The amount, plus what is held for its refunds: when nothing is left, the payment is finished. */
  left: number
  releases: number
}

/**
 * Modified in place, so that an entry costs only its postings however many holds are open. What has ended is
 * dropped: the state does not grow with the book's age.
 */
export interface Book extends Aging {
  /** Non-zero balances. */
  readonly balances: Record<string, number>
  /** Number of them. */
  accounts: number
  /** Open holds by id. */
  readonly holds: Record<string, Hold>
  openHolds: number
  /** By payment; the amounts add up to merchant.pending. */
  readonly pending: Record<string, PendingPayment>
  pendingPayments: number
  /** Position of each policy's newest cause. */
  readonly causes: Record<string, number>
  /** How many entries people have asked for. */
  requested: number
  /** Totals of the newest of them. */
  readonly entries: Recent
  /** How the latest holds ended: see `ended`. */
  readonly endedHolds: Recent
  /** Position of the newest cause among evicted ends of holds. */
  endsForgotten: number
  /** Entries that a reversal has mirrored. Manual corrections are few, so all are kept. */
  readonly reversed: Record<string, true>
  reversals: number
  /** Nothing counts before this time any more; left out while no month is closed. */
  closedBefore?: string
}

export function emptyBook(): Book {
  return {
    balances: {},
    accounts: 0,
    holds: {},
    openHolds: 0,
    pending: {},
    pendingPayments: 0,
    ...noYoung(),
    causes: {},
    requested: 0,
    entries: new Recent(Float64Array),
    endedHolds: new Recent(Float64Array),
    endsForgotten: 0,
    reversed: {},
    reversals: 0,
  }
}

/** A book as JSON. */
type KeptBook = Omit<Book, 'entries' | 'endedHolds'> & {
  readonly entries: KeptRecent
  readonly endedHolds: KeptRecent
}

/** The book restored from its JSON: it was checked before it was stored. */
export function bookFrom(kept: unknown): Book {
  const book = kept as KeptBook
  return {
    ...book,
    entries: Recent.from(book.entries, Float64Array),
    endedHolds: Recent.from(book.endedHolds, Float64Array),
  }
}

export function balanceOf(book: Pick<Book, 'balances'>, account: AccountCode): number {
  return book.balances[account] ?? 0
}

/** What may be spent of an account at this time. */
export function spendable(book: Book, account: AccountCode, now: Date): number {
  return Math.max(0, balanceOf(book, account) - youngIn(book, account, now))
}

export interface Balances {
  readonly available: number
  readonly pending: number
  readonly reserved: number
}

/** Domain model 2.4: what the merchant sees of a book. */
export function balances(book: Pick<Book, 'balances'>): Balances {
  return {
    available: balanceOf(book, merchantAvailable),
    pending: balanceOf(book, merchantPending),
    reserved: balanceOf(book, merchantReserved) + balanceOf(book, clearingPayout),
  }
}

/** How a hold ended, if that was recently. */
export function endOf(book: Book, holdId: string): Outcome | undefined {
  const end = book.endedHolds.recall(holdId)
  return end === undefined ? undefined : outcomes[end % outcomes.length]
}

/** Outcome and position of the cause in one number. */
function endOn(outcome: Outcome, position: number): number {
  return position * outcomes.length + outcomes.indexOf(outcome)
}

/**
 * True for what a policy repeats: it follows the log in order, so everything up to its newest cause is done.
 */
export function isApplied(book: Book, cause: Cause | undefined): boolean {
  return cause !== undefined && cause.position <= (book.causes[cause.policy] ?? -1)
}

// How each event changes the book

export function afterEntry(book: Book, entry: LedgerEvents['EntryPosted']): Book {
  move(book, entry)
  if (entry.reverses) noteReversal(book, entry, entry.reverses)
  if (entry.availableAt !== undefined && !entry.pending) noteYoung(book, entry, entry.availableAt)
  if (!isRequested(entry)) return book
  book.requested++
  book.entries.remember(entry.entryId, sum(entry.postings, 'debit'))
  return book
}

function noteReversal(book: Book, { subject, postings }: Entry, reverses: string): void {
  book.reversals += Number(!(reverses in book.reversed))
  book.reversed[reverses] = true
  for (const { account } of postings) keepYoung(book, account, ({ payment }) => payment !== subject.id)
}

/** Releases and corrections are recognised by what they are about, and what policies cause by its cause. */
function isRequested({ cause, reverses, template }: LedgerEvents['EntryPosted']): boolean {
  return !cause && reverses === undefined && template !== 'payment.available'
}

export function afterRefusal(book: Book, { cause }: LedgerEvents['EntryRefused']): Book {
  if (cause) noteCause(book, cause)
  return book
}

export function afterPlacing(book: Book, entry: LedgerEvents['HoldPlaced']): Book {
  const { holdId, template, subject, owner, amounts, parts, payment, description } = entry
  move(book, entry)
  takeYoung(book, payment, parts, -1)
  book.openHolds++
  book.holds[holdId] = {
    template,
    subject,
    owner,
    amounts,
    placed: parts.length,
    parts: parts.map((part) => Object.assign({ state: 'placed' } as const, part)),
    ...(payment !== undefined && { payment }),
    ...(description !== undefined && { description }),
  }
  return book
}

export function afterAdvancing(book: Book, entry: LedgerEvents['HoldAdvanced']): Book {
  const { parts } = stepped(book, entry)
  move(book, entry)
  for (const part of parts) part.state = 'advanced'
  return book
}

export function afterClosing(book: Book, { before }: LedgerEvents['BookClosed']): Book {
  book.closedBefore = before
  return book
}

type Ending = LedgerEvents['HoldPosted' | 'HoldVoided']

export function afterEnding(book: Book, entry: Ending, outcome: Outcome): Book {
  const { hold, parts } = stepped(book, entry)
  move(book, entry)
  if (outcome === 'voided') takeYoung(book, hold.payment, parts, 1)
  hold.parts = hold.parts.filter((part) => !parts.includes(part))
  if (hold.parts.length > 0) return book
  book.openHolds--
  delete book.holds[entry.holdId]
  const forgotten = book.endedHolds.remember(entry.holdId, endOn(outcome, entry.cause?.position ?? 0))
  const position = Math.floor((forgotten ?? 0) / outcomes.length)
  book.endsForgotten = Math.max(book.endsForgotten, position)
  return book
}

/** The parts that take a step. Every step is about an open hold: no other history is possible. */
function stepped({ holds }: Book, { holdId, parts }: LedgerEvents['HoldAdvanced'] | Ending) {
  const hold = holds[holdId]
  if (!hold) throw new Error(`hold ${holdId} takes a step without having been placed`)
  return { hold, parts: parts ? hold.parts.filter(({ id }) => parts.includes(id)) : hold.parts }
}

function move(book: Book, entry: Entry): void {
  moveBalances(book, entry)
  movePending(book, entry)
  if (entry.cause) noteCause(book, entry.cause)
}

function moveBalances(book: Book, { postings }: Entry): void {
  for (const posting of postings) {
    const before = balanceOf(book, posting.account)
    const balance = before + effect(posting)
    book.accounts += Number(balance !== 0) - Number(before !== 0)
    if (balance === 0) delete book.balances[posting.account]
    else book.balances[posting.account] = balance
  }
}

function movePending(book: Book, { template, postings, pending }: Entry): void {
  if (!pending) return
  const { payment, left } = pending
  const before = book.pending[payment]
  const known = before ?? { amount: 0, left: 0, releases: 0 }
  book.pendingPayments += Number(left !== 0) - Number(before !== undefined)
  known.amount += sum(postings, 'credit', merchantPending) - sum(postings, 'debit', merchantPending)
  known.left = left
  if (template === 'payment.available') known.releases++
  if (left === 0) delete book.pending[payment]
  else book.pending[payment] = known
}

function noteCause(book: Book, { policy, position }: Cause): void {
  book.causes[policy] = Math.max(position, book.causes[policy] ?? -1)
}
