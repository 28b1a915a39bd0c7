import type { Cause } from '../../kernel/decider.ts'
import {
  clearingPayout,
  merchantAvailable,
  merchantPending,
  merchantReserved,
  type AccountCode,
} from './accounts.ts'
import type { Entry, LedgerEvents } from './events.ts'
import type { Hold, Outcome } from './holds.ts'
import { effect, sum } from './postings.ts'
import { nothingRecent, remember, type Recent } from './recent.ts'

/** A payment by card that is not released yet. */
export interface PendingPayment {
  /** Its part of merchant.pending. */
  amount: number
  /** The amount, and what is held for refunds of it: nothing left means that the payment is done with. */
  left: number
  releases: number
}

/**
 * Plain data, so that a snapshot is the same state, and changed in place, so that an entry costs its postings
 * however many holds are open. What is over is forgotten: the state does not grow with the age of the book.
 */
export interface Book {
  /** Balances that are not zero. */
  readonly balances: Record<string, number>
  /** Open holds by id. */
  readonly holds: Record<string, Hold>
  openHolds: number
  /** By payment; their amounts add up to merchant.pending. */
  readonly pending: Record<string, PendingPayment>
  /** Position of the newest cause of each policy. */
  readonly causes: Record<string, number>
  /** Total of each entry that no policy caused. */
  readonly entries: Recent<number>
  readonly endedHolds: Recent<Outcome>
  /** Entries that a reversal has mirrored. Corrections by hand are few, so all are kept. */
  readonly reversed: Record<string, true>
}

export function emptyBook(): Book {
  return {
    balances: {},
    holds: {},
    openHolds: 0,
    pending: {},
    causes: {},
    entries: nothingRecent(),
    endedHolds: nothingRecent(),
    reversed: {},
  }
}

export function balanceOf(book: Book, account: AccountCode): number {
  return book.balances[account] ?? 0
}

export interface Balances {
  readonly available: number
  readonly pending: number
  readonly reserved: number
}

/** Domain model 2.4: what the merchant sees of a book. */
export function balances(book: Book): Balances {
  return {
    available: balanceOf(book, merchantAvailable),
    pending: balanceOf(book, merchantPending),
    reserved: balanceOf(book, merchantReserved) + balanceOf(book, clearingPayout),
  }
}

/** True for what a policy sends again: it follows the log in order, so all up to its newest cause is done. */
export function isApplied(book: Book, cause: Cause | undefined): boolean {
  return cause !== undefined && cause.position <= (book.causes[cause.policy] ?? -1)
}

// How each event changes the book

export function afterEntry(book: Book, entry: LedgerEvents['EntryPosted']): Book {
  move(book, entry)
  if (!entry.cause) remember(book.entries, entry.entryId, sum(entry.postings, 'debit'))
  if (entry.reverses) book.reversed[entry.reverses] = true
  return book
}

export function afterPlacing(book: Book, entry: LedgerEvents['HoldPlaced']): Book {
  const { holdId, template, subject, amounts, postings, pending, description } = entry
  const debits = postings.filter(({ side }) => side === 'debit')
  move(book, entry)
  book.openHolds++
  book.holds[holdId] = {
    template,
    subject,
    amounts,
    sources: debits.map(({ account, amount }) => ({ account, amount })),
    ...(pending && { payment: pending.payment }),
    ...(description !== undefined && { description }),
    state: 'placed',
  }
  return book
}

export function afterAdvancing(book: Book, entry: LedgerEvents['HoldAdvanced']): Book {
  const hold = book.holds[entry.holdId]
  if (!hold) throw new Error(`hold ${entry.holdId} advances without having been placed`)
  move(book, entry)
  hold.state = 'advanced'
  return book
}

type Ending = LedgerEvents['HoldPosted' | 'HoldVoided']

export function afterEnding(book: Book, entry: Ending, outcome: Outcome): Book {
  if (!book.holds[entry.holdId]) throw new Error(`hold ${entry.holdId} ends without having been placed`)
  move(book, entry)
  book.openHolds--
  delete book.holds[entry.holdId]
  remember(book.endedHolds, entry.holdId, outcome)
  return book
}

function move(book: Book, entry: Entry): void {
  afterPostings(book, entry)
  movePending(book, entry)
  if (entry.cause) noteCause(book, entry.cause)
}

/** All that balances need: for who shows nothing else of a book, and need not remember its holds. */
export function afterPostings(book: Book, { postings }: Pick<Entry, 'postings'>): Book {
  for (const posting of postings) {
    const balance = balanceOf(book, posting.account) + effect(posting)
    if (balance === 0) delete book.balances[posting.account]
    else book.balances[posting.account] = balance
  }
  return book
}

function movePending(book: Book, { template, postings, pending }: Entry): void {
  if (!pending) return
  const { payment, left } = pending
  const known = book.pending[payment] ?? { amount: 0, left: 0, releases: 0 }
  known.amount += sum(postings, 'credit', merchantPending) - sum(postings, 'debit', merchantPending)
  known.left = left
  if (template === 'payment.available') known.releases++
  if (left === 0) delete book.pending[payment]
  else book.pending[payment] = known
}

function noteCause(book: Book, { policy, position }: Cause): void {
  book.causes[policy] = Math.max(position, book.causes[policy] ?? -1)
}
