import {
  CountMinor,
  Currency,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import { Account, merchantPending, payoutFees } from './accounts.ts'
import { Posting } from './postings.ts'
import type { AdvanceTemplate, EntryTemplate, HoldTemplate, PostTemplate, VoidTemplate } from './templates.ts'

/** What the money is for: `{ type: 'payout', id }`. */
export const Subject = record({ type: Type.String(), id: Uuid })
export type Subject = Static<typeof Subject>

/** `amount` is G, A, R or N of domain model 2.3, unsigned and without a fee charged on top. */
export const Amounts = record({ amount: CountMinor, fee: CountMinor })
export type Amounts = Static<typeof Amounts>

/** A card payment that is not released: `left` is what is pending or held for refunds of it afterwards. */
export const PendingPayment = record({ payment: Uuid, left: CountMinor })

/** The event that a policy followed. It is part of the data because the book's state must know it. */
const CausedBy = record({ policy: Type.String(), position: Type.Integer({ minimum: 0 }) })

/** One journal entry: all its postings, and what a balance transaction shows. */
const entryFields = {
  entryId: Uuid,
  subject: Subject,
  postings: Type.Array(Posting, { minItems: 2 }),
  amounts: Amounts,
  currency: Currency,
  /** When it counts. The log says when it was known: times do not grow along it. */
  effectiveAt: Timestamp,
  /** When it would have counted if that month had not been closed by then. */
  belongsTo: optional(Timestamp),
  description: optional(Type.String()),
  pending: optional(PendingPayment),
  cause: optional(CausedBy),
}

/** The book at the other end of a transfer. */
const counterparty = optional(Type.String())

/**
 * What a hold moves as one: from one account, by one rail, with one fee on top. A part that is only a fee has
 * the amount 0.
 */
export const HoldPart = record({
  /** In a batch, the payout's id; otherwise any name that is unique within the hold. */
  id: Type.String(),
  source: Account,
  amount: CountMinor,
  fee: CountMinor,
  feeAccount: nullable(Account),
  /** Null in holds of the first version: the command that ends them names it. */
  rail: nullable(Type.String()),
})
export type HoldPart = Static<typeof HoldPart>

/**
 * The store accepts any string as a template, so that a new row of the tables is no new version of the
 * events.
 */
function template<Names extends string>() {
  return Type.Unsafe<Names>(Type.String())
}

/** `parts` names those that took the step, and is left out where all did at once. */
const holdStep = { holdId: Uuid, parts: optional(Type.Array(Type.String())) }
/** What was added may be left out. */
const same = (older: object) => older
const unchanged = { 1: same, 2: same }

export const ledgerEvents = {
  EntryPosted: stored(
    4,
    record({
      ...entryFields,
      template: template<EntryTemplate>(),
      counterparty,
      /** When a card payment is to be released, or may be spent from the wallet that it is in. */
      availableAt: optional(Timestamp),
      /** wallet.apply: what is left in the wallet. */
      remaining: optional(CountMinor),
      /** The entry that this one mirrors. */
      reverses: optional(Uuid),
    }),
    { 1: same, 2: same, 3: same },
  ),
  /**
   * What a policy asked for and the book does not cover: nothing moves, and the policy's family learns of it.
   */
  EntryRefused: stored(
    1,
    record({
      entryId: Uuid,
      subject: Subject,
      template: template<EntryTemplate>(),
      amounts: Amounts,
      currency: Currency,
      counterparty,
      /** For people. */
      reason: Type.String(),
      cause: optional(CausedBy),
    }),
  ),
  HoldPlaced: stored(
    3,
    record({
      ...entryFields,
      template: template<HoldTemplate>(),
      holdId: Uuid,
      /** The stream that must claim the hold. */
      owner: Type.String(),
      parts: Type.Array(HoldPart, { minItems: 1 }),
      /** The payment that a refund is for. */
      payment: optional(Uuid),
    }),
    { 1: placedInParts, 2: same },
  ),
  HoldAdvanced: stored(
    3,
    record({ ...entryFields, template: template<AdvanceTemplate>(), ...holdStep }),
    unchanged,
  ),
  HoldPosted: stored(
    3,
    record({ ...entryFields, template: template<PostTemplate>(), ...holdStep }),
    unchanged,
  ),
  HoldVoided: stored(
    3,
    record({ ...entryFields, template: template<VoidTemplate>(), ...holdStep }),
    unchanged,
  ),
  /** From now on no entry counts before this time: whatever comes late counts from it on. */
  BookClosed: stored(1, record({ before: Timestamp })),
  /** Entries may count from this time on again. */
  BookReopened: stored(1, record({ before: Timestamp })),
}

export type LedgerEvents = EventsOf<typeof ledgerEvents>
/** All but what moves nothing. */
export type EntryEvents = Omit<LedgerEvents, 'EntryRefused' | 'BookClosed' | 'BookReopened'>
export type Entry = EntryEvents[keyof EntryEvents]

const notices: readonly string[] = ['EntryRefused', 'BookClosed', 'BookReopened']

/** Whether an event of a book is a journal entry. */
export function isEntry<Event extends { readonly type: string }>(event: Event): boolean {
  return !notices.includes(event.type)
}

/** The first version knew payouts from one source, and refunds from up to two without a fee. */
function placedInParts(older: Record<string, never>): object {
  const { postings, amounts, subject, pending } = older as unknown as Pick<Entry, keyof typeof entryFields>
  const taken = postings.filter(({ side }) => side === 'debit')
  const parts = taken.map(({ account: source, amount: total }) => ({
    id: source === merchantPending ? source : subject.id,
    source,
    amount: total - amounts.fee,
    fee: amounts.fee,
    feeAccount: amounts.fee > 0 ? payoutFees : null,
    rail: null,
  }))
  const owner = `${subject.type}-${subject.id}`
  return { ...older, owner, parts, ...(pending && { payment: pending.payment }) }
}
