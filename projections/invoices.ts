import { invoice } from '../packages/domain/invoices/invoice.ts'
import { documents } from '../packages/kernel/projection.ts'

export const invoices = documents(invoice, {
  name: 'invoices',
  version: 5,
  columns: { status: 'text', customerId: 'text', subscriptionId: 'text' },
  row: (state) => {
    if (state.status === 'none') return undefined
    const { status, customer, subscription } = state
    return { status, customerId: customer, subscriptionId: subscription }
  },
  indexes: [
    ['merchant', 'livemode', 'status', 'created'],
    ['merchant', 'livemode', 'customerId', 'created'],
    ['merchant', 'livemode', 'subscriptionId', 'created'],
  ],
  countedBy: ['status'],
  // Each is told its number right after it was issued.
  fillPercent: 50,
})
