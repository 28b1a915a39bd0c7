import type { Message } from '../../kernel/decider.ts'
import { policy, to } from '../../kernel/policy.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { bookId } from '../ledger/accounts.ts'
import { book, type BookCommands } from '../ledger/book.ts'
import type { RefundEvents } from './refund.ts'

/**
 * A refund's hold ends with the refund: posted or voided, once. What the payment learns of it is ordered
 * where both are known.
 */
const money = policy<RefundEvents>('refund_money', {
  RefundSucceeded: (event) =>
    inBook(event, {
      type: 'PostHold',
      data: { holdId: event.id, rail: event.data.rail },
    }),
  RefundFailed: (event) => inBook(event, { type: 'VoidHold', data: { holdId: event.id } }),
})

export const refundPolicies = [money]

function inBook(
  { metadata, data }: RecordedEvent<{ readonly currency: string }>,
  command: Message<BookCommands>,
) {
  return [to(book, bookId(metadata.merchant, metadata.livemode, data.currency), command)]
}
