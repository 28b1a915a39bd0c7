import { derivedId } from '../../contract/identity.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Context, Decider } from '../../kernel/decider.ts'
import { merchantPending, parseBookId, type AccountCode } from './accounts.ts'
import { ledgerEvents, type Entry, type LedgerEvents, type Subject } from './events.ts'
import {
  guardBalances,
  guardFreeAccounts,
  guardSource,
  isRepeated,
  openHold,
  pendingAfter,
  stamp,
} from './guards.ts'
import { advanced, posted, voided } from './hold-steps.ts'
import { placing, type Hold, type Source } from './holds.ts'
import { sum, type Posting } from './postings.ts'
import {
  afterAdvancing,
  afterEnding,
  afterEntry,
  afterPlacing,
  bookFrom,
  emptyBook,
  endOf,
  isApplied,
  type Book,
} from './state.ts'
import { entryTemplates, holdTemplates, type HoldTemplate, type PostedTemplate } from './templates.ts'

/** What a template's postings need, beside what it is for. */
export type PostEntry = {
  readonly [Name in PostedTemplate]: Parameters<(typeof entryTemplates)[Name]>[0] & {
    readonly template: Name
    readonly subject: Subject
    readonly description?: string
  }
}[PostedTemplate]

/** The hold has the id of its subject: one payout, one hold. */
export interface PlaceHold {
  readonly template: HoldTemplate
  readonly subject: Subject
  readonly amount: number
  /** Charged on top of the amount. */
  readonly fee?: number
  readonly source: AccountCode
  /** Of a refund: what of this payment is still pending is taken before the source is. */
  readonly payment?: string
  readonly description?: string
}

export type BookCommands = {
  PostEntry: PostEntry
  /** payment.available: what refunds have left of a card payment. Sent until nothing is pending or held. */
  ReleasePayment: { readonly payment: string }
  /** reversal: an operator's correction of an earlier entry of this book. */
  ReverseEntry: { readonly entry: LedgerEvents['EntryPosted']; readonly description?: string }
  PlaceHold: PlaceHold
  AdvanceHold: { readonly holdId: string }
  PostHold: { readonly holdId: string; readonly rail: string }
  VoidHold: { readonly holdId: string }
}

/** Double entry for one merchant, environment and currency: the only place where money moves. */
export const book: Decider<Book, BookCommands, LedgerEvents> = {
  category: 'ledger',
  events: ledgerEvents,
  initial: emptyBook,
  snapshot: { version: 3, every: ({ openHolds }) => Math.max(256, openHolds), restored: bookFrom },

  decide: {
    PostEntry(command, book, context) {
      const { template, subject, amount, description } = command
      if ('source' in command) guardSource(command.source)
      const amounts = { amount, fee: 'fee' in command ? command.fee : 0 }
      const entryId = derivedId(subject.id, template)
      const entry = stamp({ entryId, subject, amounts, postings: postingsOf(command) }, context)
      if (isRepeated(book, entry)) return []
      guardFreeAccounts(entry.postings)
      guardBalances(book, entry.postings, 'account_must_cover_the_amount')
      const deferred = sum(entry.postings, 'credit', merchantPending)
      const data = {
        template,
        ...(description !== undefined && { description }),
        ...('availableAt' in command && { availableAt: command.availableAt }),
        ...(deferred > 0 && pendingAfter(book, subject.id, deferred)),
        ...entry,
      }
      return [{ type: 'EntryPosted', data }]
    },

    ReleasePayment({ payment }, book, context) {
      const { amount, releases } = book.pending[payment] ?? { amount: 0, releases: 0 }
      if (amount === 0) return []
      const template = 'payment.available'
      const entryId = derivedId(payment, releases === 0 ? template : `${template}.${releases + 1}`)
      const subject = { type: 'payment', id: payment }
      const postings = entryTemplates[template]({ amount })
      const entry = stamp({ entryId, subject, amounts: { amount, fee: 0 }, postings }, context)
      guardBalances(book, entry.postings)
      return [{ type: 'EntryPosted', data: { template, ...pendingAfter(book, payment, -amount), ...entry } }]
    },

    ReverseEntry({ entry: mistake, description }, book, context) {
      const { entryId: reverses, subject, amounts, pending } = mistake
      if (book.reversed[reverses]) return []
      if (!isReversible(mistake, context)) throw new Error(`entry ${reverses} is not reversed here`)
      const postings = entryTemplates.reversal(mistake)
      const entry = stamp({ entryId: derivedId(reverses, 'reversal'), subject, amounts, postings }, context)
      const pendingTaken = sum(entry.postings, 'debit', merchantPending)
      const pendingNow = pending ? (book.pending[pending.payment]?.amount ?? 0) : 0
      if (pendingTaken > pendingNow) refuse('account_must_cover_the_amount')
      guardFreeAccounts(entry.postings)
      guardBalances(book, entry.postings, 'account_must_cover_the_amount')
      const data = {
        template: 'reversal' as const,
        reverses,
        ...(description !== undefined && { description }),
        ...(pending && pendingAfter(book, pending.payment, -pendingTaken)),
        ...entry,
      }
      return [{ type: 'EntryPosted', data }]
    },

    PlaceHold(command, book, context) {
      const { template, subject, amount, fee = 0, payment, description } = command
      const open = book.holds[subject.id]
      if (open) return repeatedHold(open, command)
      const entryId = derivedId(subject.id, template)
      if (endOf(book, subject.id) || isApplied(book, context.cause)) return []
      const { uncovered } = holdTemplates[template]
      if (!Number.isSafeInteger(amount + fee)) refuse(uncovered)
      guardSource(command.source)
      const sources = sourcesOf(command, book)
      const entry = stamp({ entryId, subject, amounts: { amount, fee }, postings: placing(sources) }, context)
      guardBalances(book, entry.postings, uncovered)
      const takesPending = sources.some(({ account }) => account === merchantPending)
      const data = {
        template,
        holdId: subject.id,
        ...(description !== undefined && { description }),
        ...(payment && takesPending && pendingAfter(book, payment, 0)),
        ...entry,
      }
      return [{ type: 'HoldPlaced', data }]
    },

    AdvanceHold({ holdId }, book, context) {
      const hold = openHold(book, holdId, { context, ends: ['posted', 'voided'] })
      if (!hold || hold.state === 'advanced') return []
      return proven(book, [advanced(hold, context)])
    },

    PostHold({ holdId, rail }, book, context) {
      const hold = openHold(book, holdId, { context, ends: ['posted'] })
      if (!hold) return []
      // An operator may be faster than the policy that follows the sending: then both steps are made at once.
      const isAhead = hold.state === 'placed' && 'advanced' in holdTemplates[hold.template]
      if (!isAhead) return proven(book, [posted(book, hold, { context, rail })])
      const sent: Hold = { ...hold, state: 'advanced' }
      return proven(book, [advanced(hold, context), posted(book, sent, { context, rail })])
    },

    VoidHold({ holdId }, book, context) {
      const hold = openHold(book, holdId, { context, ends: ['voided'] })
      return hold ? proven(book, [voided(book, hold, context)]) : []
    },
  },

  evolve: {
    EntryPosted: afterEntry,
    HoldPlaced: afterPlacing,
    HoldAdvanced: afterAdvancing,
    HoldPosted: (book, entry) => afterEnding(book, entry, 'posted'),
    HoldVoided: (book, entry) => afterEnding(book, entry, 'voided'),
  },
}

function postingsOf(command: PostEntry): Posting[] {
  // Commands are typed by the table, so a template fits what it is given; TypeScript cannot follow that.
  const postings = entryTemplates[command.template] as (given: PostEntry) => Posting[]
  return postings(command)
}

/** A release and a correction are final: what they moved is moved again by a new entry of another kind. */
function isReversible({ template, currency }: LedgerEvents['EntryPosted'], { id }: Context): boolean {
  return template !== 'reversal' && template !== 'payment.available' && currency === parseBookId(id).currency
}

/**
 * The same request decides nothing. A keyed request that was cut short after its hold may come again with
 * other money: until the hold is given back, the key stands for what it was first used for.
 */
function repeatedHold({ template, amounts }: Hold, { subject, amount, fee = 0, ...asked }: PlaceHold): [] {
  const isSame = template === asked.template && amounts.amount === amount && amounts.fee === fee
  if (!isSame) {
    refuse('idempotency_key_must_be_for_one_request', {
      detail: `Money is held for ${subject.type} ${subject.id} already`,
    })
  }
  return []
}

/** Domain model 2.3: a refund takes what of its payment is pending first, and the rest from the source. */
function sourcesOf({ amount, fee = 0, source, payment }: PlaceHold, book: Book): Source[] {
  const total = amount + fee
  const pending = payment ? Math.min(total, book.pending[payment]?.amount ?? 0) : 0
  const sources: Source[] = [
    { account: merchantPending, amount: pending },
    { account: source, amount: total - pending },
  ]
  return sources.filter((part) => part.amount > 0)
}

/** The steps of a hold move what it holds, so that they are covered is known. */
function proven<Step extends { readonly data: Entry }>(book: Book, steps: readonly Step[]): readonly Step[] {
  guardBalances(
    book,
    steps.flatMap(({ data }) => data.postings),
  )
  return steps
}
