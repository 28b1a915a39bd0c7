import { refuse, type RefusalName } from '../../contract/refusals.ts'
import type { Context } from '../../kernel/decider.ts'
import { owns } from '../../kernel/owner.ts'
import {
  classOf,
  clearingPayout,
  isHeld,
  mayGoBelowZero,
  merchantPending,
  merchantReserved,
  parseBookId,
  sandboxFunding,
  type AccountCode,
} from './accounts.ts'
import type { Entry } from './events.ts'
import type { Hold, Outcome } from './holds.ts'
import { balanced, effect, sum, type Posting } from './postings.ts'
import { balanceOf, endOf, isApplied, type Book } from './state.ts'

/** What a decision says of an entry; the book and the context know the rest. */
type Draft = Pick<Entry, 'entryId' | 'subject' | 'amounts' | 'postings'>
export type Stamped = Draft & Pick<Entry, 'currency' | 'effectiveAt' | 'cause'>

/**
 * L1 and L8: the entry balances, and lies in the book of its merchant and environment. Decisions
 * spread it after their own fields, because V8 copies an object that starts a literal ten times slower.
 */
export function stamp({ entryId, subject, amounts, postings }: Draft, context: Context): Stamped {
  const { id, livemode, now, cause } = context
  const book = parseBookId(id)
  if (!owns(book, context)) throw new Error(`${id} is another merchant's book`)
  if (livemode && postings.some(({ account }) => account === sandboxFunding)) {
    throw new Error(`${id} is live and takes no play money`)
  }
  return {
    entryId,
    subject,
    amounts,
    postings: balanced(postings),
    currency: book.currency,
    effectiveAt: now.toISOString(),
    ...(cause && { cause }),
  }
}

/**
 * L2: no account but our own money at the rails is overdrawn, and every balance that is shown stays exact.
 * Without a name for the refusal the money is known to be there, so its absence is a bug.
 */
export function guardBalances(book: Book, postings: readonly Posting[], uncovered?: RefusalName): void {
  const after = new Map<AccountCode, number>()
  const balanceAfter = (account: AccountCode) => after.get(account) ?? balanceOf(book, account)
  for (const posting of postings) after.set(posting.account, balanceAfter(posting.account) + effect(posting))
  for (const [account, balance] of after) {
    if (balance >= 0 || mayGoBelowZero(account)) continue
    if (uncovered) refuse(uncovered)
    throw new Error(`${account} would be at ${balance}`)
  }
  const reserved = balanceAfter(merchantReserved) + balanceAfter(clearingPayout)
  if (![...after.values(), reserved].every(Number.isSafeInteger)) refuse('balance_must_stay_countable')
}

/** L3: what is held moves with its hold only, and what is pending with its payment only. */
export function guardFreeAccounts(postings: readonly Posting[]): void {
  const held = postings.find(({ account }) => isHeld(account))
  if (held) throw new Error(`${held.account} is moved by holds only`)
}

/** What a command may name as a source. Pending money is found by its payment, never named. */
export function guardSource(source: AccountCode): void {
  const isFree = !isHeld(source) && source !== merchantPending && classOf(source) === 'liability'
  if (!isFree) throw new Error(`${source} is no source`)
}

/** L5: an entry is posted once. The same id with another total is a bug. */
export function isRepeated(book: Book, { entryId, postings, cause }: Stamped): boolean {
  const total = book.entries.recall(entryId)
  if (total === undefined) return isApplied(book, cause)
  if (total !== sum(postings, 'debit')) throw new Error(`entry ${entryId} was posted with another amount`)
  return true
}

/** What of a payment is pending or held after so much was added to it. */
export function pendingAfter(book: Book, payment: string, added: number): Pick<Entry, 'pending'> {
  return { pending: { payment, left: (book.pending[payment]?.left ?? 0) + added } }
}

interface Expected {
  readonly context: Context
  /** Ends after which the command is a repeat. */
  readonly ends: readonly Outcome[]
}

/** L4: the open hold; `undefined` when it has ended as the command would have it. Another end is a bug. */
export function openHold(book: Book, holdId: string, { context, ends }: Expected): Hold | undefined {
  const hold = book.holds[holdId]
  if (hold) return hold
  const end = endOf(book, holdId)
  if (end ? ends.includes(end) : isApplied(book, context.cause)) return undefined
  throw new Error(end ? `hold ${holdId} was ${end}` : `hold ${holdId} is not known`)
}
