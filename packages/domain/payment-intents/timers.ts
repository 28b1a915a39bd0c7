import type { RecordedEvent } from '../../kernel/projection.ts'
import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { Entry, LedgerEvents } from '../ledger/events.ts'
import { claimed, claimWithinMs } from '../ledger/timers.ts'
import type { RefundEvents } from '../refunds/events.ts'
import type { PaymentIntentEvents } from './events.ts'

/** Domain model 4: operators are asked at steps of 30 s. */
const firstAskedMs = 30_000

type BookEvents = Pick<LedgerEvents, 'EntryPosted' | 'HoldPosted' | 'HoldVoided'>

/** The parts of a subject: an id, and further data for the work. */
function timerSubject(id: string, beside: string): string {
  return `${id}.${beside}`
}

export const paymentTimers = timerHandlers<PaymentIntentEvents & RefundEvents & BookEvents>({
  PaymentIntentConfirmationStarted: (event) => [start('intent_lock', event.id, event, event.data.leaseUntil)],
  PaymentIntentConfirmationAborted: ({ id }) => [stop('intent_lock', id)],
  PaymentIntentSubmitted: (event) => [stop('intent_lock', event.id), ask('intent_status', event)],
  PaymentIntentActionRequired: (event) => [stop('intent_lock', event.id), ask('intent_status', event)],
  PaymentIntentSucceeded: ({ id }) => [stop('intent_status', id)],
  PaymentIntentFailed: ({ id }) => [stop('intent_status', id)],
  PaymentIntentCanceled: (event) => {
    const asked = event.data.operationId === null ? [] : [ask('canceled_status', event)]
    return [stop('intent_status', event.id), ...asked]
  },
  PaymentIntentCancellationSettled: ({ id }) => [stop('canceled_status', id)],
  PaymentIntentEscalated: ({ id }) => [stop('canceled_status', id)],
  PaymentIntentLateSuccessRecorded: (event) => {
    const subject = timerSubject(event.id, event.data.operationId)
    const asked = start('late_refund', subject, event, after(event.metadata.at, firstAskedMs))
    return [stop('canceled_status', event.id), asked]
  },
  PaymentIntentLateRefundFailed: (event) => {
    const { operationId, refund, next } = event.data
    const subject = timerSubject(event.id, operationId)
    const again = next ? start('late_refund', subject, event, next.at) : stop('late_refund', subject)
    return [stop('second_late_refund', timerSubject(subject, refund)), again]
  },
  PaymentIntentLateRefundContradicted: ({ id, data: { operationId, refund, isConfirmed } }) => {
    const subject = timerSubject(timerSubject(id, operationId), refund)
    return isConfirmed ? [stop('second_late_refund', subject)] : []
  },
  PaymentIntentLateRefundResumed: (event) => {
    const subject = timerSubject(event.id, event.data.operationId)
    return [start('late_refund', subject, event, event.metadata.at)]
  },
  PaymentIntentLateSuccessRefunded: (event) => {
    const { operationId, refund, underWay } = event.data
    const subject = timerSubject(event.id, operationId)
    const ended = [stop('late_refund', subject), stop('second_late_refund', timerSubject(subject, refund))]
    if (underWay === null) return ended
    const second = timerSubject(subject, underWay)
    return [...ended, start('second_late_refund', second, event, after(event.metadata.at, firstAskedMs))]
  },

  PaymentIntentRefundReserved: (event) => {
    const subject = timerSubject(event.data.refund, event.id)
    return [start('refund_unrequested', subject, event, after(event.metadata.at, claimWithinMs))]
  },
  PaymentIntentRefunded: ({ id, data }) => [stop('refund_unrequested', timerSubject(data.refund, id))],
  PaymentIntentRefundReleased: ({ id, data }) => [stop('refund_unrequested', timerSubject(data.refund, id))],
  RefundRequested: (event) => [
    stop('refund_unrequested', timerSubject(event.id, event.data.paymentIntent)),
    claimed(event.id, event.data.currency),
    ask('refund_status', event),
  ],
  RefundAbandoned: ({ id, data: { paymentIntent } }) => {
    return paymentIntent === null ? [] : [stop('refund_unrequested', timerSubject(id, paymentIntent))]
  },
  RefundSucceeded: ({ id }) => [stop('refund_status', id)],
  RefundFailed: ({ id }) => [stop('refund_status', id)],

  EntryPosted: (event) => {
    const { subject, currency, availableAt, pending } = event.data
    if (!availableAt || !pending) return released(event)
    return [start('payment_available', timerSubject(subject.id, currency), event, availableAt)]
  },
  HoldPosted: released,
  HoldVoided: released,
})

function ask(kind: string, event: RecordedEvent) {
  return start(kind, event.id, event, after(event.metadata.at, firstAskedMs))
}

/** Nothing of a card payment is pending or held any more, so nothing remains to be released. */
function released({ data: { pending, currency } }: RecordedEvent<Entry>) {
  return pending?.left === 0 ? [stop('payment_available', timerSubject(pending.payment, currency))] : []
}

function after(time: string, delayMs: number): string {
  return new Date(Date.parse(time) + delayMs).toISOString()
}
