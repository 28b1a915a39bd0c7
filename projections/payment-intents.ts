import { paymentIntent } from '../packages/domain/payment-intents/payment-intent.ts'
import { paymentStatus } from '../packages/domain/payment-intents/payment.ts'
import { documents } from '../packages/kernel/projection.ts'

export const paymentIntents = documents(paymentIntent, {
  name: 'payment_intents',
  version: 5,
  columns: { status: 'text', customer: 'text', currency: 'text', amount: 'bigint' },
  row: (state) => {
    if (state.status === 'none') return undefined
    const { status, customer, currency, amount } = state
    return { status, customer, currency, amount }
  },
  indexes: [
    ['merchant', 'livemode', 'status', 'created'],
    ['merchant', 'livemode', 'customer', 'created'],
  ],
  sparse: ['customer'],
})

/** The same streams, once they have become payments. */
export const payments = documents(paymentIntent, {
  name: 'payments',
  version: 7,
  columns: { status: 'text', customer: 'text', succeeded_at: 'timestamptz', searchable: 'text' },
  row: (state) => {
    if (state.status !== 'succeeded') return undefined
    const { customer, description, metadata, payment } = state
    const searchable = [description, ...Object.values(metadata)].filter((text) => text !== null).join('\n')
    return { status: paymentStatus(payment), customer, succeeded_at: payment.succeededAt, searchable }
  },
  indexes: [
    ['merchant', 'livemode', 'status', 'created'],
    ['merchant', 'livemode', 'customer', 'created'],
    ['merchant', 'livemode', 'succeeded_at'],
  ],
  searched: ['searchable'],
  sparse: ['customer'],
  countedBy: ['status'],
})
