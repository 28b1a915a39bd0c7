import {
  Currency,
  literals,
  Metadata,
  nullable,
  record,
  Timestamp,
  Type,
  type Static,
} from '../../contract/vocabulary.ts'
import { holderOf } from '../../contract/payments/holders.ts'
import { sealedFor, stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'
import { Recorded, Remedy, Word } from './contradictions.ts'
import { Destination } from './destination-request.ts'
import { Failure } from './failure.ts'
import { PayoutMoney } from './money.ts'

/** Spec, Payout: delay_reason. */
export const DelayReason = literals('operator_pending', 'operator_timeout', 'operator_down', 'unknown')

export type DelayReason = Static<typeof DelayReason>

export const payoutEvents = {
  PayoutRequested: sealedFor(
    ({ destination }) => holderOf(destination),
    stored(
      2,
      record({
        money: PayoutMoney,
        destination: Destination,
        /** The saved destination that was named. */
        payoutMethod: nullable(Type.String()),
        batch: nullable(Type.String()),
        metadata: personal(Metadata),
        expectedBy: Timestamp,
      }),
      { 1: withoutStamp },
    ),
  ),
  /** Money was held for a request that never reached this stream, and never will. */
  PayoutAbandoned: stored(2, record({ currency: Currency }), { 1: withoutStamp }),
  /** The destination is only recorded with the request. */
  PayoutSent: stored(2, record({ money: PayoutMoney }), {
    1: ({ destination: _, ...older }) => withoutStamp(older),
  }),
  PayoutPaid: stored(2, record({ money: PayoutMoney }), { 1: withoutStamp }),
  PayoutFailed: stored(2, record({ money: PayoutMoney, failure: Failure }), { 1: withoutStamp }),
  PayoutCanceled: sealedFor(
    (_, id) => `payout/${id}`,
    stored(2, record({ money: PayoutMoney, reason: personal(Type.String()) }), { 1: withoutStamp }),
  ),
  PayoutReturned: stored(2, record({ money: PayoutMoney }), { 1: withoutStamp }),
  PayoutDelayed: stored(2, record({ reason: DelayReason }), { 1: withoutStamp }),
  PayoutDelayReasonRevised: stored(2, record({ reason: DelayReason }), { 1: withoutStamp }),
  /** As recorded before remedies existed. */
  PayoutContradicted: stored(2, record({ claim: Word }), { 1: withoutStamp }),
  /** The operator contradicts the record. */
  PayoutResultContradicted: stored(
    1,
    record({ recorded: Recorded, word: Word, remedy: Remedy, money: PayoutMoney }),
  ),
  /** It had failed, its money was given back, and it arrived after all: the merchant is to pay it again. */
  PayoutChargeRequested: stored(1, record({ money: PayoutMoney })),
  /** The balance does not cover it. `reason` is for people. */
  PayoutChargeRefused: stored(1, record({ money: PayoutMoney, reason: Type.String() })),
  /** The merchant has paid it again. */
  PayoutPaidLate: stored(1, record({ money: PayoutMoney })),
  /** Nobody has learned the outcome within three days: a case for support. */
  PayoutEscalated: stored(2, record({}), { 1: withoutStamp }),
}

export type PayoutEvents = EventsOf<typeof payoutEvents>
