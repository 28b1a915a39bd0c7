import {
  AmountMinor,
  CountMinor,
  Country,
  Currency,
  literals,
  Metadata,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  Uuid,
} from '../../contract/vocabulary.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

export const PaymentMethod = Type.Union([
  record({
    type: literals('mobile_money'),
    country: Country,
    operator: Type.String(),
    msisdn: Type.String(),
  }),
  record({ type: literals('card'), token: Type.String() }),
])

/** Domain model 5.2. An operator's own codes are kept in `message` only. */
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

const operation = { at: Timestamp, operationId: Uuid }

/** Money that the operator moved: what the book needs to know about it. */
const collected = { ...operation, amount: AmountMinor, currency: Currency, rail: Type.String() }

// The last four are inferred: the specification tells what must be true of late payments and of refunds, not
// how it is kept.

export const paymentIntentEvents = {
  PaymentIntentCreated: stored(
    1,
    record({
      merchant: Type.String(),
      livemode: Type.Boolean(),
      at: Timestamp,
      amount: AmountMinor,
      currency: Currency,
      transactionCountry: Country,
      payerCountry: nullable(Country),
      railCountry: nullable(Country),
      description: nullable(Type.String()),
      metadata: Metadata,
      customer: nullable(Uuid),
    }),
  ),
  /** `metadata` holds the keys that are added or replaced. */
  PaymentIntentAnnotated: stored(
    1,
    record({ at: Timestamp, description: optional(Type.String()), metadata: optional(Metadata) }),
  ),
  /** `returnUrl` is the merchant's, `statusUrl` our own page about this operation. */
  PaymentIntentConfirmationStarted: stored(
    1,
    record({
      ...operation,
      method: PaymentMethod,
      preferredFlow: nullable(Type.String()),
      returnUrl: nullable(Type.String()),
      statusUrl: Type.String(),
      leaseUntil: Timestamp,
    }),
  ),
  PaymentIntentSubmitted: stored(1, record({ ...operation, expiresAt: Timestamp })),
  PaymentIntentActionRequired: stored(1, record({ ...operation, url: Type.String(), expiresAt: Timestamp })),
  PaymentIntentConfirmationAborted: stored(1, record(operation)),
  PaymentIntentSucceeded: stored(1, record({ ...collected, fee: CountMinor, availableOn: Timestamp })),
  PaymentIntentFailed: stored(
    1,
    record({ ...operation, code: literals(...paymentFailureCodes), message: Type.String() }),
  ),
  /** `operationId` is the confirmation that the payer had not finished. */
  PaymentIntentCanceled: stored(1, record({ at: Timestamp, operationId: nullable(Uuid) })),
  /** `refund` is the reference under which the provider is told to give the money back. */
  PaymentIntentLateSuccessRecorded: stored(1, record({ ...collected, method: PaymentMethod, refund: Uuid })),

  PaymentIntentLateSuccessRefunded: stored(1, record({ ...collected, refund: Uuid })),
  PaymentIntentRefundReserved: stored(1, record({ at: Timestamp, refund: Uuid, amount: AmountMinor })),
  PaymentIntentRefundReleased: stored(1, record({ at: Timestamp, refund: Uuid })),
  PaymentIntentRefunded: stored(1, record({ at: Timestamp, refund: Uuid, amount: AmountMinor })),
}

export type PaymentIntentEvents = EventsOf<typeof paymentIntentEvents>
export type PaymentFailureCode = (typeof paymentFailureCodes)[number]
