import { paymentLink } from '../packages/domain/payment-links/payment-link.ts'
import { documents } from '../packages/kernel/projection.ts'

export const paymentLinks = documents(paymentLink, {
  name: 'payment_links',
  version: 2,
  columns: { status: 'text', currency: 'text', is_single_use: 'boolean' },
  row: (state) => {
    if (state.status === 'none') return undefined
    const { status, currency, isSingleUse } = state
    return { status, currency, is_single_use: isSingleUse }
  },
  indexes: [['merchant', 'livemode', 'status', 'created']],
})
