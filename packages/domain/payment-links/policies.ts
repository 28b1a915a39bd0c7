import { policy, to } from '../../kernel/policy.ts'
import type { CheckoutSessionEvents } from '../checkout/checkout-session.ts'
import { paymentLink } from './payment-link.ts'

const use = policy<CheckoutSessionEvents>('payment_link_use', {
  CheckoutSessionCompleted: ({ id, data: { link } }) =>
    link === null ? [] : [to(paymentLink, link, { type: 'UseLink', data: { session: id } })],
})

const useReturn = policy<CheckoutSessionEvents>('payment_link_use_return', {
  CheckoutSessionPaymentReturned: ({ id, data: { link } }) =>
    link === null ? [] : [to(paymentLink, link, { type: 'ReturnUse', data: { session: id } })],
})

export const paymentLinkPolicies = [use, useReturn]
