import {
  CountMinor,
  Currency,
  optional,
  record,
  Timestamp,
  Type,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import { Posting } from './postings.ts'
import type { AdvanceTemplate, EntryTemplate, HoldTemplate, PostTemplate, VoidTemplate } from './templates.ts'

/** What the money is for: `{ type: 'payout', id }`. */
export const Subject = record({ type: Type.String(), id: Uuid })
export type Subject = Static<typeof Subject>

/** `amount` is G, A, R or N of domain model 2.3, without sign and without a fee that is charged on top. */
export const Amounts = record({ amount: CountMinor, fee: CountMinor })
export type Amounts = Static<typeof Amounts>

/** A card payment that is not released: `left` is what of it is pending or held for refunds afterwards. */
export const PendingPayment = record({ payment: Uuid, left: CountMinor })

/** The event that a policy followed. It stands in the data because the book's state must know it. */
const CausedBy = record({ policy: Type.String(), position: Type.Integer({ minimum: 0 }) })

/** One journal entry: all its postings, and what a balance transaction shows. */
const entryFields = {
  entryId: Uuid,
  subject: Subject,
  postings: Type.Array(Posting, { minItems: 2 }),
  amounts: Amounts,
  currency: Currency,
  effectiveAt: Timestamp,
  description: optional(Type.String()),
  pending: optional(PendingPayment),
  cause: optional(CausedBy),
}

/** A template is any string to the store, so that a new row of the tables is no new version of the events. */
function template<Names extends string>() {
  return Type.Unsafe<Names>(Type.String())
}

export const ledgerEvents = {
  EntryPosted: stored(
    1,
    record({
      ...entryFields,
      template: template<EntryTemplate>(),
      /** When a payment by card is to be released. */
      availableAt: optional(Timestamp),
      /** The entry that this one mirrors. */
      reverses: optional(Uuid),
    }),
  ),
  HoldPlaced: stored(1, record({ ...entryFields, template: template<HoldTemplate>(), holdId: Uuid })),
  HoldAdvanced: stored(1, record({ ...entryFields, template: template<AdvanceTemplate>(), holdId: Uuid })),
  HoldPosted: stored(1, record({ ...entryFields, template: template<PostTemplate>(), holdId: Uuid })),
  HoldVoided: stored(1, record({ ...entryFields, template: template<VoidTemplate>(), holdId: Uuid })),
}

export type LedgerEvents = EventsOf<typeof ledgerEvents>
export type Entry = LedgerEvents[keyof LedgerEvents]
