import {
  AmountMinor,
  CountMinor,
  Currency,
  literals,
  Metadata,
  nullable,
  record,
  Timestamp,
  Type,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'

export const Day = Type.String({ format: 'date', description: 'A day, `2026-01-31`' })

/** `description` is null where the invoice's own says it. */
const Line = record({
  description: nullable(Type.String()),
  quantity: Type.Integer({ minimum: 0 }),
  amount: CountMinor,
})

/** What somebody is asked to pay. */
const terms = {
  customer: nullable(Uuid),
  /** As it was given with the invoice. */
  customerName: personal(nullable(Type.String())),
  subscription: nullable(Uuid),
  period: nullable(record({ start: Timestamp, end: Timestamp })),
  currency: Currency,
  description: personal(nullable(Type.String())),
  lines: Type.Array(Line, { minItems: 1 }),
  metadata: personal(Metadata),
  timeZone: Type.String(),
  /** The page, and what makes its address unguessable. */
  url: Type.String(),
  secret: Uuid,
}

/** What has paid it, or a part of it. */
const Payer = record({ type: literals('payment_intent', 'wallet', 'outside'), id: nullable(Uuid) })

const ofSubscription = { subscription: nullable(Uuid) }
const paid = { amount: AmountMinor, by: Payer, ...ofSubscription }

export const invoiceEvents = {
  InvoiceDrafted: sealedFor(payerOf, stored(1, record({ ...terms, dueDate: nullable(Day) }))),
  InvoiceIssued: sealedFor(payerOf, stored(1, record({ ...terms, dueDate: Day }))),
  InvoiceNumbered: stored(1, record({ number: Type.Integer({ minimum: 1 }) })),
  /** Only one try at a time can be paid. */
  InvoicePaymentStarted: stored(
    1,
    record({ paymentIntent: Uuid, number: Type.Integer({ minimum: 1 }), amount: AmountMinor }),
  ),
  /** As long as the book has not answered, nothing else can pay it. `isWhole`: all that is left. */
  InvoiceWalletPaymentStarted: sealedFor(
    ({ customer }) => `customer/${customer}`,
    stored(
      1,
      record({
        application: Uuid,
        customer: Uuid,
        currency: Currency,
        amount: AmountMinor,
        fee: CountMinor,
        isWhole: Type.Boolean(),
        description: personal(nullable(Type.String())),
      }),
    ),
  ),
  /** The wallet did not cover it any more. */
  InvoiceWalletPaymentFailed: stored(1, record({ application: Uuid })),
  InvoicePaymentFailed: stored(1, record({ paymentIntent: Uuid })),
  InvoicePartlyPaid: stored(1, record(paid)),
  /** An amount of 0: nothing was to be paid. */
  InvoicePaid: stored(1, record({ ...paid, amount: CountMinor })),
  /**
   * The operator has taken back what had paid it. `reopens`: it was paid, and is open again. Whoever still
   * has to pay is reminded at `next`.
   */
  InvoicePaymentReturned: stored(
    1,
    record({
      paymentIntent: Uuid,
      amount: AmountMinor,
      reopens: Type.Boolean(),
      dueDate: Day,
      timeZone: Type.String(),
      next: nullable(Timestamp),
    }),
  ),
  /** Whoever has to pay is reminded at `remindAt`. */
  InvoiceBecameOverdue: stored(
    2,
    record({ ...ofSubscription, unpaidAt: Timestamp, remindAt: nullable(Timestamp) }),
    { 1: (data) => ({ ...data, remindAt: remindedBefore(data['unpaidAt']!) }) },
  ),
  /** Inferred: whoever is late was reminded for this time, where there is an address for mails. */
  InvoiceReminded: stored(
    1,
    record({ number: Type.Integer({ minimum: 1 }), isMailed: Type.Boolean(), next: nullable(Timestamp) }),
  ),
  InvoiceVoided: stored(1, record(ofSubscription)),
  InvoiceMarkedUncollectible: stored(1, record(ofSubscription)),
}

/** The first version said only when it is unpaid: eighteen days after the first reminder's. */
function remindedBefore(unpaidAt: string): string {
  return new Date(Date.parse(unpaidAt) - 18 * 86_400_000 + 9 * 3_600_000).toISOString()
}

/** Whom a description and metadata are about. */
function payerOf({ customer }: { readonly customer: string | null }, id: string): string {
  return customer === null ? `invoice/${id}` : `customer/${customer}`
}

export type InvoiceEvents = EventsOf<typeof invoiceEvents>
export type InvoiceLine = Static<typeof Line>
export type Payer = Static<typeof Payer>
