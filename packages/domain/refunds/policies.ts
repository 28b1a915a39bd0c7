import type { Message } from '../../kernel/decider.ts'
import { policy, to } from '../../kernel/policy.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { bookId } from '../ledger/accounts.ts'
import { book } from '../ledger/book.ts'
import type { BookCommands } from '../ledger/commands.ts'
import type { LedgerEvents } from '../ledger/events.ts'
import type { PaymentIntentEvents } from '../payment-intents/events.ts'
import { paymentIntent } from '../payment-intents/payment-intent.ts'
import type { RefundEvents } from './events.ts'
import { refund } from './refund.ts'

/** A refund's hold ends with the refund: posted or voided, once. */
const money = policy<RefundEvents>('refund_money', {
  RefundSucceeded: (event) =>
    inBook(event, {
      type: 'PostHold',
      data: { holdId: event.id, rail: event.data.rail },
    }),
  RefundFailed: (event) => inBook(event, { type: 'VoidHold', data: { holdId: event.id } }),
  RefundReturned: (event) => {
    const { amount, rail, shares } = event.data
    const data = {
      template: 'refund.return',
      subject: { type: 'refund', id: event.id },
      amount,
      rail,
      shares,
    } as const
    return inBook(event, { type: 'PostEntry', data })
  },
})

/** The payment learns what became of its reserved part. */
const paymentRefunds = policy<RefundEvents>('payment_refunds', {
  RefundSucceeded: ({ id, data }) => [
    to(paymentIntent, data.paymentIntent, { type: 'RecordRefund', data: { refund: id } }),
  ],
  RefundFailed: ({ id, data }) => [
    to(paymentIntent, data.paymentIntent, { type: 'ReleaseRefund', data: { refund: id } }),
  ],
  RefundReturned: ({ id, data }) => [
    to(paymentIntent, data.paymentIntent, { type: 'ReturnRefund', data: { refund: id } }),
  ],
  RefundChargeRequested: ({ id, data: { paymentIntent: intent, amount, attempt } }) => [
    to(paymentIntent, intent, { type: 'ChargeRefund', data: { refund: id, amount, attempt } }),
  ],
  RefundAbandoned: ({ id, data: { paymentIntent: intent } }) => {
    return intent === null ? [] : [to(paymentIntent, intent, { type: 'ReleaseRefund', data: { refund: id } })]
  },
})

/** A refund that was paid after all: the payment says which accounts give it, then the book charges them. */
const charges = policy<PaymentIntentEvents & LedgerEvents>('refund_charges', {
  PaymentIntentRefundCharged: (event) => {
    const { refund: id, attempt, amount, rail, shares } = event.data
    const entry = {
      template: 'refund.paid_late',
      subject: { type: 'refund', id },
      nth: attempt,
      amount,
      rail,
      shares,
    } as const
    return inBook(event, { type: 'PostEntry', data: { ...entry, isRefusable: true } })
  },
  PaymentIntentRefundChargeRefused: ({ data: { refund: id, reason } }) => [
    to(refund, id, { type: 'RefuseCharge', data: { reason, isCounted: false } }),
  ],
  EntryPosted: ({ data: { template, subject } }) => {
    return template === 'refund.paid_late'
      ? [to(refund, subject.id, { type: 'SettleLateRefund', data: {} })]
      : []
  },
  EntryRefused: ({ data: { template, subject, reason } }) => {
    return template === 'refund.paid_late'
      ? [to(refund, subject.id, { type: 'RefuseCharge', data: { reason, isCounted: true } })]
      : []
  },
})

export const refundPolicies = [money, paymentRefunds, charges]

function inBook(
  { metadata, data }: RecordedEvent<{ readonly currency: string }>,
  command: Message<BookCommands>,
) {
  return [to(book, bookId(metadata.merchant, metadata.livemode, data.currency), command)]
}
