import { refund } from '../packages/domain/refunds/refund.ts'
import { documents } from '../packages/kernel/projection.ts'

export const refunds = documents(refund, {
  name: 'refunds',
  version: 5,
  columns: { status: 'text', payment_intent: 'text' },
  row: (state) => {
    if (state.status === 'none' || state.status === 'abandoned') return undefined
    return { status: state.status, payment_intent: state.paymentIntent }
  },
  indexes: [['payment_intent', 'created']],
})
