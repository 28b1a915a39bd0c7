import type { Message } from '../../kernel/decider.ts'
import { policy, to } from '../../kernel/policy.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { bookId } from '../ledger/accounts.ts'
import { book, type BookCommands } from '../ledger/book.ts'
import type { PaymentIntentEvents } from './events.ts'

/**
 * What the payer has paid goes into the merchant's book. What came too late is parked there until it is given
 * back.
 */
const money = policy<PaymentIntentEvents>('payment_money', {
  PaymentIntentSucceeded: (event) => {
    const { amount, fee, rail, availableOn } = event.data
    const entry = { subject: { type: 'payment', id: event.id }, amount, fee, rail }
    const data =
      availableOn <= event.metadata.at
        ? ({ template: 'payment.succeeded', ...entry } as const)
        : ({ template: 'payment.succeeded_deferred', ...entry, availableAt: availableOn } as const)
    return inBook(event, { type: 'PostEntry', data })
  },
  PaymentIntentLateSuccessRecorded: (event) => inBook(event, late('payment.late', event)),
  PaymentIntentLateSuccessRefunded: (event) => inBook(event, late('payment.late_refund', event)),
})

export const paymentIntentPolicies = [money]

type Collected = PaymentIntentEvents['PaymentIntentLateSuccessRefunded']

function inBook(
  { metadata, data }: RecordedEvent<Pick<Collected, 'currency'>>,
  command: Message<BookCommands>,
) {
  return [to(book, bookId(metadata.merchant, metadata.livemode, data.currency), command)]
}

/** Each confirmation of an intent may be paid late, so the operation is the subject. */
function late(
  template: 'payment.late' | 'payment.late_refund',
  { data: { operationId, amount, rail } }: RecordedEvent<Collected>,
): Message<BookCommands> {
  const subject = { type: 'operation', id: operationId }
  return { type: 'PostEntry', data: { template, subject, amount, rail } }
}
