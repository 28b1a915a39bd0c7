import { refuse, type RefusalName } from '../../contract/refusals.ts'
import type { Context } from '../../kernel/decider.ts'
import { owns } from '../../kernel/owner.ts'
import {
  classOf,
  clearingPayout,
  isHeld,
  merchantAvailable,
  mayGoBelowZero,
  merchantPending,
  merchantReserved,
  parseBookId,
  sandboxFunding,
  type AccountCode,
} from './accounts.ts'
import type { Entry } from './events.ts'
import type { Hold, OpenPart, Outcome } from './holds.ts'
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
export function guardBalances(book: Book, postings: readonly Posting[], uncovered?: Uncovered): void {
  const after = new Map<AccountCode, number>()
  const balanceAfter = (account: AccountCode) => after.get(account) ?? balanceOf(book, account)
  for (const posting of postings) after.set(posting.account, balanceAfter(posting.account) + effect(posting))
  for (const [account, balance] of after) {
    if (balance >= 0 || mayGoBelowZero(account)) continue
    if (uncovered) refuse(uncovered.reason, { detail: shortfall(balanceOf(book, account), uncovered.entry) })
    throw new Error(`${account} would be at ${balance}`)
  }
  const reserved = balanceAfter(merchantReserved) + balanceAfter(clearingPayout)
  if (![...after.values(), reserved].every(Number.isSafeInteger)) refuse('balance_must_stay_countable')
}

/** How an entry is refused that the balance does not cover. */
export interface Uncovered {
  readonly reason: RefusalName
  readonly entry: Pick<Stamped, 'amounts' | 'currency' | 'subject'>
}

function shortfall(available: number, { amounts, currency, subject }: Uncovered['entry']): string {
  const { amount, fee } = amounts
  const parts = fee === 0 ? '' : ` (${spelled(amount)} and a fee of ${spelled(fee)})`
  const needed = `this ${subject.type} needs ${spelled(amount + fee)}${parts}`
  return `Balance has ${spelled(available)} ${currency} available; ${needed}`
}

/** `1,200`: in the smallest unit, as everywhere. */
function spelled(amountMinor: number): string {
  return amountMinor.toLocaleString('en-US')
}

/** Inferred. It leaves room for what payers pay: no policy's entry is refused for the size of a balance. */
const playMoneyMax = 1e15

export function guardPlayMoney(book: Book, amount: number): void {
  if (balanceOf(book, merchantAvailable) + amount > playMoneyMax) refuse('balance_must_stay_countable')
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

/**
 * L5: a hold is placed once. Its owner was looked at when the log stood at `asOf`, and had nothing then; what
 * has ended since then must still be remembered. Else whoever asks has to look again.
 */
export function guardFirstHold({ endsForgotten }: Book, { asOf = 0 }: Context): void {
  if (asOf < endsForgotten) refuse('resource_must_not_have_changed')
}

interface Expected {
  readonly context: Context
  /** Ends after which the command is a repeat. */
  readonly ends: readonly Outcome[]
  /** Left out: all. */
  readonly parts?: readonly string[] | undefined
}

/**
 * L4: the parts of an open hold that the command is about; `undefined` when they have ended as it would have
 * them. Another end is a bug.
 */
export function openParts(book: Book, holdId: string, expected: Expected): OpenHold | undefined {
  const { context, ends, parts: named } = expected
  const hold = book.holds[holdId]
  const parts = hold?.parts.filter(({ id }) => !named || named.includes(id)) ?? []
  const isThere = hold && parts.length === (named?.length ?? parts.length)
  if (isThere) return { hold, parts }
  if (isApplied(book, context.cause)) return undefined
  const end = hold ? undefined : endOf(book, holdId)
  if (end && ends.includes(end)) return undefined
  if (hold) throw new Error(`hold ${holdId} has no open parts ${named?.join(', ')}`)
  throw new Error(end ? `hold ${holdId} was ${end}` : `hold ${holdId} is not known`)
}

export interface OpenHold {
  readonly hold: Hold
  readonly parts: readonly OpenPart[]
}
