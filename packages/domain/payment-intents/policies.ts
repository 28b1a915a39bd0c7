import type { Message } from '../../kernel/decider.ts'
import { policy, to } from '../../kernel/policy.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { bookId } from '../ledger/accounts.ts'
import { book } from '../ledger/book.ts'
import type { BookCommands, PostEntry } from '../ledger/commands.ts'
import type { PaymentIntentEvents } from './events.ts'

/**
 * Books what the payer has paid in the merchant's book. What came too late waits in suspense until it is
 * returned.
 */
const money = policy<PaymentIntentEvents>('payment_money', {
  PaymentIntentSucceeded: (event) => inBook(event, { type: 'PostEntry', data: posted(event) }),
  PaymentIntentLateSuccessRecorded: (event) => inBook(event, late('payment.late', event)),
  PaymentIntentLateSuccessRefunded: (event) => inBook(event, late('payment.late_refund', event)),
  PaymentIntentLateRefundContradicted: (event) => {
    return event.data.remedy === 'reopen' ? inBook(event, late('payment.late', event)) : []
  },
})

export const paymentIntentPolicies = [money]

/** By the payment's plan; by card, the merchant's part is pending first. */
function posted({
  id,
  data,
  metadata,
}: RecordedEvent<PaymentIntentEvents['PaymentIntentSucceeded']>): PostEntry {
  const { template, amount, fee, rail, credits, availableOn } = data
  const entry = { subject: { type: 'payment', id }, amount, fee, rail, credits }
  const later = deferredTwin[template]
  if (availableOn <= metadata.at) return { template, ...entry }
  if (template === 'wallet.topup') return { template, ...entry, availableAt: availableOn }
  if (!later) return { template, ...entry }
  return { template: later, ...entry, availableAt: availableOn }
}

const deferredTwin = {
  'payment.succeeded': 'payment.succeeded_deferred',
  'order.paid': 'order.paid_deferred',
  'wallet.topup': undefined,
  'escrow.fund': undefined,
  'contribution.succeeded': undefined,
} as const

/** What books a payment; other entries about it follow from one of these. */
export const paymentTemplates: readonly string[] = Object.entries(deferredTwin)
  .flat()
  .filter((template) => template !== undefined)

type Refunded = PaymentIntentEvents['PaymentIntentLateSuccessRefunded']
type Collected = Omit<Refunded, 'refund' | 'nth' | 'underWay'> & {
  readonly nth?: number
}

function inBook(
  { metadata, data }: RecordedEvent<Pick<Collected, 'currency'>>,
  command: Message<BookCommands>,
) {
  return [to(book, bookId(metadata.merchant, metadata.livemode, data.currency), command)]
}

/** Each confirmation of an intent may be paid late, so the operation is the subject. */
function late(
  template: 'payment.late' | 'payment.late_refund',
  { data: { operationId, amount, rail, nth = 1 } }: RecordedEvent<Collected>,
): Message<BookCommands> {
  const subject = { type: 'operation', id: operationId }
  return { type: 'PostEntry', data: { template, subject, nth, amount, rail } }
}
