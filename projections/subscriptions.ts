import { subscription } from '../packages/domain/subscriptions/subscription.ts'
import { documents } from '../packages/kernel/projection.ts'

export const subscriptions = documents(subscription, {
  name: 'subscriptions',
  version: 3,
  columns: { status: 'text', customerId: 'text', billingPlanId: 'text' },
  row: (state) => {
    if (state.status === 'none') return undefined
    const { status, customer, items } = state
    return { status, customerId: customer, billingPlanId: items[0]!.plan }
  },
  indexes: [
    ['merchant', 'livemode', 'status', 'created'],
    ['merchant', 'livemode', 'customerId', 'created'],
  ],
  countedBy: ['status'],
})
