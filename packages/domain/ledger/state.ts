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

/** A payment by card that is not released yet. */
export interface PendingPayment {
  /** Its part of merchant.pending. */
  amount: number
  /** The amount, and what is held for refunds of it: nothing left means that the payment is done with. */
  left: number
  releases: number
}

/**
 * Changed in place, so that an entry costs its postings however many holds are open. What is over is
 * forgotten: the state does not grow with the age of the book.
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
  readonly entries: Recent
  /** The place of each outcome among all outcomes. */
  readonly endedHolds: Recent
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
    entries: new Recent(Float64Array),
    endedHolds: new Recent(Uint8Array),
    reversed: {},
  }
}

/** A book as JSON. */
type KeptBook = Omit<Book, 'entries' | 'endedHolds'> & {
  readonly entries: KeptRecent
  readonly endedHolds: KeptRecent
}

/** The book that became this JSON: what is kept of it was checked before. */
export function bookFrom(kept: unknown): Book {
  const book = kept as KeptBook
  return {
    ...book,
    entries: Recent.from(book.entries, Float64Array),
    endedHolds: Recent.from(book.endedHolds, Uint8Array),
  }
}

/** The same for who follows its balances alone. */
export function balancesFrom(kept: unknown): Book {
  return { ...emptyBook(), balances: (kept as KeptBook).balances }
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

/** How a hold ended, if that was lately. */
export function endOf(book: Book, holdId: string): Outcome | undefined {
  const place = book.endedHolds.recall(holdId)
  return place === undefined ? undefined : outcomes[place]
}

/** True for what a policy sends again: it follows the log in order, so all up to its newest cause is done. */
export function isApplied(book: Book, cause: Cause | undefined): boolean {
  return cause !== undefined && cause.position <= (book.causes[cause.policy] ?? -1)
}

// How each event changes the book

export function afterEntry(book: Book, entry: LedgerEvents['EntryPosted']): Book {
  move(book, entry)
  if (!entry.cause) book.entries.remember(entry.entryId, sum(entry.postings, 'debit'))
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
  book.endedHolds.remember(entry.holdId, outcomes.indexOf(outcome))
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
