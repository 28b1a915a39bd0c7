import { holderOf } from '../../contract/payments/holders.ts'
import { AmountMinor, Currency, literals, nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import { sealedFor, stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'
import { merchantAvailable } from '../ledger/accounts.ts'
import { Share } from '../ledger/plans.ts'
import { Recorded, Remedy, Word } from './contradictions.ts'

/** Spec, merchant routes. */
export const refundReasons = ['duplicate', 'fraudulent', 'requested_by_customer'] as const

const Method = Type.Union([
  record({
    type: literals('mobile_money'),
    country: Type.String(),
    operator: Type.String(),
    msisdn: personal(Type.String()),
  }),
  record({ type: literals('card'), token: Type.String() }),
])

/**
 * What book and payment need to know at each end. It is the same in every event, because a policy sees
 * nothing else.
 */
const money = { paymentIntent: Uuid, amount: AmountMinor, currency: Currency, rail: Type.String() }

/**
 * What each account gives, and gets back if it is returned: the accounts that the payment was credited to.
 */
const shares = Type.Array(Share)

export const refundEvents = {
  /** `rail` is the account that the payment came in by, `method` where the money goes back to. */
  RefundRequested: sealedFor(
    ({ method }) => holderOf(method),
    stored(3, record({ ...money, shares, reason: nullable(literals(...refundReasons)), method: Method }), {
      1: withoutStamp,
      2: fromAvailable,
    }),
  ),
  RefundSucceeded: stored(2, record(money), { 1: withoutStamp }),
  RefundFailed: stored(2, record({ ...money, code: Type.String(), message: Type.String() }), {
    1: withoutStamp,
  }),
  /** Inferred: the request died after it had reserved the amount. It will never reach this stream. */
  RefundAbandoned: stored(2, record({ paymentIntent: nullable(Uuid) }), { 1: withoutStamp }),
  /** The provider contradicts the record. */
  RefundResultContradicted: stored(1, record({ ...money, recorded: Recorded, word: Word, remedy: Remedy })),
  /** It had succeeded, and the money came back. */
  RefundReturned: stored(2, record({ ...money, shares, message: Type.String() }), { 1: fromAvailable }),
  /** It had failed, and the payer has the money after all: it is to be counted and charged. */
  RefundChargeRequested: stored(1, record({ ...money, attempt: Type.Integer({ minimum: 1 }) })),
  /** Too little is left of the payment, or of the balance. `reason` is for people. */
  RefundChargeRefused: stored(1, record({ ...money, reason: Type.String() })),
  /** It counts among what the payment has given back. */
  RefundPaidLate: stored(1, record(money)),
  /** Inferred: nobody has learned the outcome within three days: a case for support. */
  RefundEscalated: stored(2, record({}), { 1: withoutStamp }),
}

/** Before shares existed, every refund was paid from the merchant's balance. */
function fromAvailable(older: Record<string, never>): object {
  return { ...older, shares: [{ account: merchantAvailable, amount: older['amount'] }] }
}

export type RefundEvents = EventsOf<typeof refundEvents>
