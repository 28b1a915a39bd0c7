import { policy, to } from '../../kernel/policy.ts'
import type { PaymentIntentEvents } from '../payment-intents/events.ts'
import { checkoutSession } from './checkout-session.ts'

const completion = policy<PaymentIntentEvents>('checkout_completion', {
  PaymentIntentSucceeded: ({ id, data: { purpose } }) => {
    if (purpose.type !== 'checkout' || purpose.id === null) return []
    return [to(checkoutSession, purpose.id, { type: 'CompleteSession', data: { paymentIntent: id } })]
  },
})

const paymentReturn = policy<PaymentIntentEvents>('checkout_payment_return', {
  PaymentIntentPaymentReturned: ({ id, data: { purpose } }) => {
    if (purpose.type !== 'checkout' || purpose.id === null) return []
    return [to(checkoutSession, purpose.id, { type: 'ReturnPayment', data: { paymentIntent: id } })]
  },
})

export const checkoutPolicies = [completion, paymentReturn]
