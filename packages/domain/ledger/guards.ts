import { spelledAmount } from '../../contract/locale/money-text.ts'
import { Refusal, refuse, type RefusalName } from '../../contract/refusals.ts'
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
import type { Hold, OpenPart, Outcome } from './holds.ts'
import { balanced, effect, sum, type Posting } from './postings.ts'
import { rememberedMax } from './recent.ts'
import { moves, type PostedTemplate } from './templates.ts'
import { balanceOf, endOf, isApplied, spendable, type Book } from './state.ts'

/** A decision's part of an entry; book and context provide the rest. */
type Draft = Pick<Entry, 'entryId' | 'subject' | 'amounts' | 'postings'> & {
  /** Left out: now. */
  readonly effectiveAt?: string | undefined
}
export type Stamped = Draft & Pick<Entry, 'currency' | 'effectiveAt' | 'belongsTo' | 'cause'>

/**
 * L1 and L8: the entry balances, and belongs to its merchant's book and environment. Decisions spread it
 * after their own fields, because V8 copies an object at the start of a literal ten times slower.
 */
export function stamp({ closedBefore }: Book, draft: Draft, context: Context): Stamped {
  const { entryId, subject, amounts, postings } = draft
  const { id, livemode, now, cause } = context
  const wanted = draft.effectiveAt ?? now.toISOString()
  const isLate = closedBefore !== undefined && wanted < closedBefore
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
    effectiveAt: isLate ? closedBefore : wanted,
    ...(isLate && { belongsTo: wanted }),
    ...(cause && { cause }),
  }
}

/**
 * L2: no account except our own money at the rails is overdrawn, and every shown balance stays exact. Without
 * a name for the refusal the money is known to be there, so a shortage is a bug.
 */
export function guardBalances(book: Book, postings: readonly Posting[], uncovered?: Uncovered): void {
  const refusal = refusalOf(book, postings, uncovered)
  if (refusal) throw refusal
}

export function refusalOf(
  book: Book,
  postings: readonly Posting[],
  uncovered?: Uncovered,
): Refusal | undefined {
  const after = new Map<AccountCode, number>()
  const balanceAfter = (account: AccountCode) => after.get(account) ?? balanceOf(book, account)
  for (const posting of postings) after.set(posting.account, balanceAfter(posting.account) + effect(posting))
  for (const [account, balance] of after) {
    if (balance >= 0 || mayGoBelowZero(account)) continue
    if (uncovered) {
      const detail = shortfall(balanceOf(book, account), uncovered.entry)
      return new Refusal(uncovered.reason, { detail })
    }
    throw new Error(`${account} would be at ${balance}`)
  }
  const reserved = balanceAfter(merchantReserved) + balanceAfter(clearingPayout)
  const areExact = [...after.values(), reserved].every(Number.isSafeInteger)
  return areExact ? undefined : new Refusal('balance_must_stay_countable')
}

/** How an entry is refused that the balance does not cover. */
export interface Uncovered {
  readonly reason: RefusalName
  readonly entry: Pick<Stamped, 'amounts' | 'currency' | 'subject'>
}

function shortfall(available: number, { amounts, currency, subject }: Uncovered['entry']): string {
  const { amount, fee } = amounts
  const parts = fee === 0 ? '' : ` (${spelledAmount(amount)} and a fee of ${spelledAmount(fee)})`
  const needed = `this ${subject.type} needs ${spelledAmount(amount + fee)}${parts}`
  return `Balance has ${spelledAmount(available)} ${currency} available; ${needed}`
}

/**
 * Domain model 4: what was paid by card is spent only after two days, wherever it is. A refund gives it back
 * at any time.
 */
export function refusalOfYoungMoney(
  book: Book,
  template: PostedTemplate,
  { entry, now }: { readonly entry: Stamped; readonly now: Date },
): Refusal | undefined {
  if (!(template in moves)) return undefined
  const short = entry.postings.find(({ account, side, amount }) => {
    return side === 'debit' && account in book.young && amount > spendable(book, account, now)
  })
  if (!short) return undefined
  const detail = shortfall(spendable(book, short.account, now), entry)
  return new Refusal('account_must_cover_the_amount', { detail })
}

/** Entries that a person decides on: they can be refused, and nothing is lost. */
const byChoice: readonly PostedTemplate[] = ['sandbox.topup', 'transfer.in']

/**
 * Inferred. It leaves room for what payers pay, and for what comes back from holds and transfers: no entry of
 * those is refused because of the size of a balance.
 */
const byChoiceMax = 1e15

export function refusalOfSize(
  book: Book,
  template: PostedTemplate,
  postings: readonly Posting[],
): Refusal | undefined {
  if (!byChoice.includes(template)) return undefined
  const isTooLarge = ({ account, side, amount }: Posting) =>
    side === 'credit' && !mayGoBelowZero(account) && balanceOf(book, account) + amount > byChoiceMax
  return postings.some(isTooLarge) ? new Refusal('balance_must_stay_countable') : undefined
}

/** L3: held money moves only with its hold, pending money only with its payment. */
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

/**
 * L5: an entry that a person asks for is posted once. It is not among the first `notAmong` of those in this
 * book, so the later ones must still be remembered. Else whoever asks has to look for it first.
 */
export function guardFirstEntry(book: Book, notAmong: number, { cause }: Context): void {
  if (!cause && book.requested - notAmong > rememberedMax) refuse('resource_must_not_have_changed')
}

/** What is pending or held of a payment after this much was added to it. */
export function pendingAfter(book: Book, payment: string, added: number): Pick<Entry, 'pending'> {
  return { pending: { payment, left: (book.pending[payment]?.left ?? 0) + added } }
}

/**
 * L5: a hold is placed once. When the log was at `asOf`, its owner was found to be empty; everything that has
 * ended since must still be remembered. Otherwise the caller has to look again.
 */
export function guardFirstHold({ endsForgotten }: Book, { asOf = 0 }: Context): void {
  if (asOf < endsForgotten) refuse('resource_must_not_have_changed')
}

interface Expected {
  readonly context: Context
  /** Outcomes after which the command is a repeat. */
  readonly ends: readonly Outcome[]
  /** Left out: all. */
  readonly parts?: readonly string[] | undefined
}

/**
 * L4: the parts of an open hold that the command is about; `undefined` when they have already ended that way.
 * Another outcome is a bug.
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
