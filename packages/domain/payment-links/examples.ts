import type { NamedExamples } from '../../contract/routes.ts'

export const paymentLinkExamples: NamedExamples = {
  fixed: {
    summary: 'A price of 5 000 XOF, for as many payers as want it',
    value: { amount: 5000, currency: 'XOF', country: 'CI', description: 'Solar lamp' },
  },
  open: {
    summary: 'The payer chooses the amount, and pays the fee',
    value: { currency: 'XOF', country: 'SN', feeMode: 'customer_pays', description: 'Donation' },
  },
  once: {
    summary: 'For one payment',
    value: { amount: 25000, currency: 'XOF', country: 'CI', isSingleUse: true },
  },
}
