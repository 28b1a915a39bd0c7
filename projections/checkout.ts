import { checkoutSession } from '../packages/domain/checkout/checkout-session.ts'
import { documents } from '../packages/kernel/projection.ts'

export const checkoutSessions = documents(checkoutSession, {
  name: 'checkout_sessions',
  version: 2,
  columns: { status: 'text', payment_link: 'text', customer: 'text', amount: 'bigint', currency: 'text' },
  row: (state) => {
    if (state.status === 'none') return undefined
    const { status, link, payer, amount, currency } = state
    return { status, payment_link: link, customer: payer.customer, amount, currency }
  },
  indexes: [
    ['merchant', 'livemode', 'status', 'created'],
    ['merchant', 'livemode', 'payment_link', 'created'],
  ],
})
