import {
  AmountMinor,
  CountMinor,
  Country,
  Currency,
  literals,
  Metadata,
  MetadataRevision,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  Uuid,
} from '../../contract/vocabulary.ts'
import { sealedFor, stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'
import { holderOf } from '../../contract/payments/holders.ts'
import { merchantAvailable } from '../ledger/accounts.ts'
import { creditsOf, plainPlan, plainPurpose, PostingPlan, Purpose, Share } from '../ledger/plans.ts'

export const PaymentMethod = Type.Union([
  record({
    type: literals('mobile_money'),
    country: Country,
    operator: Type.String(),
    msisdn: personal(Type.String()),
  }),
  record({ type: literals('card'), token: Type.String() }),
])

/** Domain model 5.2. An operator's own codes are only kept in `message`. */
export const paymentFailureCodes = [
  'insufficient_funds',
  'payment_timeout',
  'provider_unavailable',
  'invalid_phone',
  'invalid_operator',
  'card_declined',
  'expired_card',
  'incorrect_cvc',
  'payer_declined',
  'limit_reached',
  'processing_error',
] as const

const operation = { operationId: Uuid }

const Nth = Type.Integer({ minimum: 1 })

/** Money that the operator moved: what the book needs to know about it. */
const collected = { ...operation, amount: AmountMinor, currency: Currency, rail: Type.String() }

// The last four are inferred: the specification says what must be true of late payments and refunds, not how
// it is recorded.

export const paymentIntentEvents = {
  PaymentIntentCreated: sealedFor(
    payerOf,
    stored(
      3,
      record({
        amount: AmountMinor,
        currency: Currency,
        transactionCountry: Country,
        payerCountry: nullable(Country),
        railCountry: nullable(Country),
        description: personal(nullable(Type.String())),
        metadata: personal(Metadata),
        customer: nullable(Uuid),
        purpose: Purpose,
        plan: PostingPlan,
      }),
      { 1: withoutStamp, 2: forItself },
    ),
  ),
  /** `metadata` has added or replaced keys with their values, and removed keys with null. */
  PaymentIntentAnnotated: sealedFor(
    payerOf,
    stored(
      4,
      record({
        description: optional(personal(nullable(Type.String()))),
        metadata: optional(personal(MetadataRevision)),
        customer: nullable(Uuid),
      }),
      // Older events could not remove keys.
      { 1: withoutStamp, 2: (old) => old, 3: (old) => ({ ...old, customer: null }) },
    ),
  ),
  /** `returnUrl` is the merchant's, `statusUrl` our own page about this operation. */
  PaymentIntentConfirmationStarted: sealedFor(
    ({ method }) => holderOf(method),
    stored(
      2,
      record({
        ...operation,
        method: PaymentMethod,
        preferredFlow: nullable(Type.String()),
        returnUrl: nullable(Type.String()),
        statusUrl: Type.String(),
        leaseUntil: Timestamp,
      }),
      { 1: withoutStamp },
    ),
  ),
  PaymentIntentSubmitted: stored(2, record({ ...operation, expiresAt: Timestamp }), { 1: withoutStamp }),
  PaymentIntentActionRequired: stored(2, record({ ...operation, url: Type.String(), expiresAt: Timestamp }), {
    1: withoutStamp,
  }),
  PaymentIntentConfirmationAborted: stored(2, record(operation), { 1: withoutStamp }),
  /** `credits` is what each account gets when the fee is taken; `template` books them. */
  PaymentIntentSucceeded: stored(
    3,
    record({
      ...collected,
      fee: CountMinor,
      availableOn: Timestamp,
      purpose: Purpose,
      template: Type.Unsafe<PostingPlan['template']>(Type.String()),
      credits: Type.Array(Share),
    }),
    { 1: withoutStamp, 2: paidForItself },
  ),
  /** `rail` is null in older events, and the purpose that of a plain payment. */
  PaymentIntentFailed: stored(
    4,
    record({
      ...operation,
      rail: nullable(Type.String()),
      code: literals(...paymentFailureCodes),
      message: Type.String(),
      purpose: Purpose,
    }),
    { 1: withoutStamp, 2: (older) => ({ ...older, rail: null }), 3: unpaidForItself },
  ),
  /** `operationId` is the confirmation that the payer had not finished. */
  PaymentIntentCanceled: stored(3, record({ operationId: nullable(Uuid), purpose: Purpose }), {
    1: withoutStamp,
    2: unpaidForItself,
  }),
  /** `refund` is the reference under which the provider is told to return the money. */
  PaymentIntentLateSuccessRecorded: sealedFor(
    ({ method }) => holderOf(method),
    stored(2, record({ ...collected, method: PaymentMethod, refund: Uuid }), {
      1: withoutStamp,
    }),
  ),

  /**
   * `nth`: how often it went back, where it came back in between. `underWay` is another reference under which
   * the provider may return it too: it is followed until it is over.
   */
  PaymentIntentLateSuccessRefunded: stored(
    4,
    record({ ...collected, refund: Uuid, nth: Nth, underWay: nullable(Uuid) }),
    {
      1: withoutStamp,
      2: (older) => ({ ...older, nth: 1 }),
      3: (older) => ({ ...older, underWay: null }),
    },
  ),
  /**
   * The provider keeps late money; it is asked again under the reference `next`, if any. Where the money is
   * back under another reference, nothing is missing.
   */
  PaymentIntentLateRefundFailed: stored(
    2,
    record({
      ...collected,
      refund: Uuid,
      message: Type.String(),
      next: nullable(record({ refund: Uuid, at: Timestamp })),
      isBackOtherwise: Type.Boolean(),
    }),
    { 1: (older) => ({ ...older, isBackOtherwise: false }) },
  ),
  /**
   * The provider's statement about a refund of late money contradicts the record, which may be that the money
   * went back under another reference. `reopen`: the money is with us again, for the nth time.
   */
  PaymentIntentLateRefundContradicted: stored(
    1,
    record({
      ...collected,
      refund: Uuid,
      recorded: literals('succeeded', 'failed', 'refunded_otherwise'),
      word: literals('succeeded', 'failed', 'returned'),
      isConfirmed: Type.Boolean(),
      remedy: literals('reopen', 'case'),
      nth: Nth,
    }),
  ),
  /** A person wants late money returned whose refund has failed for good: `refund` is the new reference. */
  PaymentIntentLateRefundResumed: stored(1, record({ ...operation, refund: Uuid })),
  /** The provider's statement about an operation contradicts the record. */
  PaymentIntentResultContradicted: stored(
    1,
    record({
      ...collected,
      recorded: literals('succeeded', 'late'),
      word: literals('failed', 'returned'),
      remedy: literals('take_back', 'case'),
    }),
  ),
  /** It had succeeded, and the provider has taken the money back. */
  PaymentIntentPaymentReturned: stored(2, record({ ...collected, purpose: Purpose }), {
    1: (older) => ({ ...older, purpose: plainPurpose }),
  }),
  /** The provider has said that nothing came of the confirmation that the payer had not finished. */
  PaymentIntentCancellationSettled: stored(1, record(operation)),
  /** Nobody has learned within three days whether a canceled intent was paid. */
  PaymentIntentEscalated: stored(1, record({ ...operation, amount: AmountMinor, currency: Currency })),
  /** `shares` is what each account gives back. */
  PaymentIntentRefundReserved: stored(
    3,
    record({ refund: Uuid, amount: AmountMinor, shares: Type.Array(Share) }),
    { 1: withoutStamp, 2: takenFromMerchant },
  ),
  PaymentIntentRefundReleased: stored(2, record({ refund: Uuid }), { 1: withoutStamp }),
  /** It was refunded and the money came back: it may be refunded again. */
  PaymentIntentRefundReturned: stored(1, record({ refund: Uuid })),
  /** A refund that had failed was paid after all: `shares` is what each account gives of it. */
  PaymentIntentRefundCharged: stored(
    2,
    record({
      refund: Uuid,
      attempt: Nth,
      amount: AmountMinor,
      currency: Currency,
      rail: Type.String(),
      shares: Type.Array(Share),
    }),
    { 1: (older) => ({ ...older, attempt: 1 }) },
  ),
  /** Too little is left of the payment. */
  PaymentIntentRefundChargeRefused: stored(1, record({ refund: Uuid, attempt: Nth, reason: Type.String() })),
  PaymentIntentRefunded: stored(2, record({ refund: Uuid, amount: AmountMinor }), { 1: withoutStamp }),
}

export type PaymentIntentEvents = EventsOf<typeof paymentIntentEvents>

/** Whom a description and metadata are about. */
function payerOf({ customer }: { readonly customer: string | null }, id: string): string {
  return customer === null ? `payment_intent/${id}` : `customer/${customer}`
}

// Before purposes existed, every payment was a plain one and went to the merchant.

function forItself(older: Record<string, never>): object {
  return { ...older, purpose: plainPurpose, plan: plainPlan(Number(older['amount'])) }
}

function unpaidForItself(older: Record<string, never>): object {
  return { ...older, purpose: plainPurpose }
}

function paidForItself(older: Record<string, never>): object {
  const { template, ...plan } = plainPlan(Number(older['amount']))
  return {
    ...older,
    purpose: plainPurpose,
    template,
    credits: creditsOf({ template, ...plan }, Number(older['fee'])),
  }
}

function takenFromMerchant(older: Record<string, never>): object {
  return { ...older, shares: [{ account: merchantAvailable, amount: older['amount'] }] }
}

export type PaymentFailureCode = (typeof paymentFailureCodes)[number]
