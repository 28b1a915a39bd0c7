import { publicId } from '../../contract/identity.ts'
import { literals, nullable, record, Timestamp, Type, type Static } from '../../contract/vocabulary.ts'
import { evolve, type Message } from '../../kernel/decider.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import type { PaymentIntentEvents } from './events.ts'
import { paymentIntent } from './payment-intent.ts'
import { paymentIntentStatuses } from './resource.ts'

export const TimelineEntry = record({
  object: literals('timeline_entry'),
  type: Type.String(),
  status: literals(...paymentIntentStatuses),
  occurred_at: Timestamp,
  message: Type.String(),
  operation_id: nullable(Type.String()),
})

export type TimelineEntry = Static<typeof TimelineEntry>

/** Inferred: the specification names neither the types nor their wording. */
const steps: Readonly<Record<keyof PaymentIntentEvents, readonly [type: string, message: string]>> = {
  PaymentIntentCreated: ['created', 'The payment intent was created'],
  PaymentIntentAnnotated: ['updated', 'Description or metadata were changed'],
  PaymentIntentConfirmationStarted: ['confirmation_started', 'The provider was asked to collect the payment'],
  PaymentIntentSubmitted: ['submitted', 'The provider has accepted the payment'],
  PaymentIntentActionRequired: ['action_required', 'The payer has to go on in a browser'],
  PaymentIntentConfirmationAborted: ['confirmation_aborted', 'The provider took nothing'],
  PaymentIntentSucceeded: ['succeeded', 'The payer has paid'],
  PaymentIntentFailed: ['failed', 'The payment failed'],
  PaymentIntentCanceled: ['canceled', 'The payment intent was canceled'],
  PaymentIntentLateSuccessRecorded: ['paid_late', 'Money arrived after the end; it is given back'],
  PaymentIntentLateSuccessRefunded: ['late_payment_refunded', 'The money that arrived late was given back'],
  PaymentIntentLateRefundFailed: ['late_refund_failed', 'The provider did not give the late money back'],
  PaymentIntentLateRefundContradicted: [
    'contradicted',
    'The provider says something else about the money that arrived late than before',
  ],
  PaymentIntentLateRefundResumed: [
    'late_refund_resumed',
    'The provider is told again to give the late money back',
  ],
  PaymentIntentResultContradicted: ['contradicted', 'The provider says something else than before'],
  PaymentIntentPaymentReturned: ['payment_returned', 'The provider has taken the money back'],
  PaymentIntentCancellationSettled: [
    'cancellation_settled',
    'The provider has confirmed that nothing was paid',
  ],
  PaymentIntentEscalated: ['escalated', 'Nobody knows whether it was paid'],
  PaymentIntentRefundReserved: ['refund_started', 'A refund was started'],
  PaymentIntentRefundReleased: ['refund_failed', 'A refund came to nothing'],
  PaymentIntentRefundReturned: ['refund_failed', 'A refund came back from the payer'],
  PaymentIntentRefunded: ['refunded', 'A refund was paid back to the payer'],
  PaymentIntentRefundCharged: ['refunded', 'A refund that had failed was paid back after all'],
  PaymentIntentRefundChargeRefused: [
    'refund_not_counted',
    'A refund that had failed was paid back after all, and more than is left of the payment',
  ],
}

/** An intent's history in order; each entry has the status that the intent had afterwards. */
export function timelineOf(events: readonly RecordedEvent[]): TimelineEntry[] {
  const entries: TimelineEntry[] = []
  let state = paymentIntent.initial()
  for (const event of events) {
    const { metadata } = event
    const { type, data } = event as Message<PaymentIntentEvents>
    state = evolve(paymentIntent, state, { type, data } as Message<PaymentIntentEvents>, metadata)
    if (state.status === 'none') throw new Error(`${event.stream} does not start with its creation`)
    const [step, message] = steps[type]
    const operationId = 'operationId' in data ? data.operationId : null
    const told = type === 'PaymentIntentFailed' ? `${message}: ${data.message}` : message
    entries.push({
      object: 'timeline_entry',
      type: step,
      status: state.status,
      occurred_at: metadata.at,
      message: told,
      operation_id: operationId && publicId('op', operationId),
    })
  }
  return entries
}
