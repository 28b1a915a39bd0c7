import type { PaymentIntentEvents } from '../packages/domain/payment-intents/events.ts'
import type { OperationRow } from '../packages/domain/payment-intents/operation.ts'
import type { PayoutEvents } from '../packages/domain/payouts/events.ts'
import type { RefundEvents } from '../packages/domain/refunds/events.ts'
import { projection, type Change, type RecordedEvent } from '../packages/kernel/projection.ts'

/** Everything requested of providers, by the reference they know: confirmations, payouts and refunds. */
export const operations = projection<PaymentIntentEvents & PayoutEvents & RefundEvents>()({
  name: 'operations',
  version: 1,
  columns: {
    id: 'text',
    merchant: 'text',
    livemode: 'boolean',
    type: 'text',
    status: 'text',
    resource_object: 'text',
    resource: 'text',
    message: 'text',
    provider_url: 'text',
    return_url: 'text',
    updated_at: 'timestamptz',
  },
  key: ['id'],
  indexes: [],

  on: {
    PaymentIntentConfirmationStarted: (event) => {
      const { operationId, returnUrl } = event.data
      const begun = { id: operationId, type: 'payment', resource_object: 'payment_intent' } as const
      return [begin(event, { ...begun, return_url: returnUrl })]
    },
    PaymentIntentActionRequired: ({ data, metadata }) => [
      change(data.operationId, metadata, { provider_url: data.url }),
    ],
    PaymentIntentConfirmationAborted: ({ data, metadata }) => {
      const message = 'The provider has not taken the payment'
      return [change(data.operationId, metadata, { status: 'failed', message })]
    },
    PaymentIntentSucceeded: ({ data, metadata }) => [
      change(data.operationId, metadata, { status: 'succeeded' }),
    ],
    PaymentIntentFailed: ({ data, metadata }) => [
      change(data.operationId, metadata, { status: 'failed', message: data.message }),
    ],
    PaymentIntentCanceled: ({ data, metadata }) => {
      return data.operationId ? [change(data.operationId, metadata, { status: 'canceled' })] : []
    },
    PaymentIntentLateSuccessRecorded: (event) => {
      return [begin(event, { id: event.data.refund, type: 'refund', resource_object: 'payment_intent' })]
    },
    PaymentIntentLateSuccessRefunded: ({ data, metadata }) => [
      change(data.refund, metadata, { status: 'succeeded', message: null }),
    ],

    PaymentIntentLateRefundFailed: (event) => {
      const { refund, message, next } = event.data
      const ended = change(refund, event.metadata, { status: 'failed', message })
      if (!next) return [ended]
      return [ended, begin(event, { id: next.refund, type: 'refund', resource_object: 'payment_intent' })]
    },
    PaymentIntentLateRefundContradicted: ({ data: { refund, word, isConfirmed }, metadata }) => {
      if (!isConfirmed) return []
      const isBack = word === 'succeeded'
      const message = isBack ? null : 'The money came back from the payer'
      return [change(refund, metadata, { status: isBack ? 'succeeded' : 'failed', message })]
    },
    PaymentIntentLateRefundResumed: (event) => [
      begin(event, { id: event.data.refund, type: 'refund', resource_object: 'payment_intent' }),
    ],
    PaymentIntentPaymentReturned: ({ data, metadata }) => [
      change(data.operationId, metadata, { status: 'failed', message: 'The money was taken back' }),
    ],

    PayoutRequested: (event) => [begin(event, { id: event.id, type: 'payout', resource_object: 'payout' })],
    PayoutPaid: ({ id, metadata }) => [change(id, metadata, { status: 'succeeded' })],
    PayoutPaidLate: ({ id, metadata }) => [change(id, metadata, { status: 'succeeded' })],
    PayoutFailed: ({ id, data, metadata }) => [
      change(id, metadata, { status: 'failed', message: data.failure.message }),
    ],
    PayoutReturned: ({ id, metadata }) => [
      change(id, metadata, { status: 'failed', message: 'The money came back' }),
    ],
    PayoutCanceled: ({ id, data, metadata }) => [
      change(id, metadata, { status: 'canceled', message: data.reason }),
    ],

    RefundRequested: (event) => [begin(event, { id: event.id, type: 'refund', resource_object: 'refund' })],
    RefundSucceeded: ({ id, metadata }) => [change(id, metadata, { status: 'succeeded' })],
    RefundPaidLate: ({ id, metadata }) => [change(id, metadata, { status: 'succeeded' })],
    RefundReturned: ({ id, data, metadata }) => [
      change(id, metadata, { status: 'failed', message: data.message }),
    ],
    RefundFailed: ({ id, data, metadata }) => [
      change(id, metadata, { status: 'failed', message: data.message }),
    ],
  },
})

type Begun = Pick<OperationRow, 'id' | 'type' | 'resource_object'> & { readonly return_url?: string | null }

function begin({ id: resource, metadata }: RecordedEvent, begun: Begun): Change {
  const { merchant, livemode, at } = metadata
  const row = {
    merchant,
    livemode,
    resource,
    status: 'pending',
    message: null,
    provider_url: null,
    return_url: null,
    updated_at: at,
  } satisfies Partial<OperationRow>
  return { put: Object.assign(row, begun) }
}

function change(id: string, { at }: { readonly at: string }, patch: Partial<OperationRow>): Change {
  return { patch: { updated_at: at, ...patch }, key: { id } }
}
