import type { Family } from '../../contract/family.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { paymentIntent } from './payment-intent.ts'
import { paymentIntentPolicies } from './policies.ts'
import { PaymentIntentResource, viewPaymentIntent } from './resource.ts'
import { paymentTimers } from './timers.ts'

const told = publicEvents(paymentIntent, {
  scope: 'payments.read',
  types: {
    'payment_intent.created': 'A payment intent was created.',
    'payment_intent.processing': 'The operator has asked the payer to approve the payment.',
    'payment_intent.requires_action': 'The payer has to go on in a browser.',
    'payment_intent.succeeded': 'The payer has paid.',
    'payment_intent.payment_failed': 'The payment failed; paying again takes a new intent.',
    'payment_intent.canceled': 'The payment intent was canceled before it was paid.',
  },
  events: {
    PaymentIntentCreated: 'payment_intent.created',
    PaymentIntentSubmitted: 'payment_intent.processing',
    PaymentIntentActionRequired: 'payment_intent.requires_action',
    PaymentIntentSucceeded: 'payment_intent.succeeded',
    PaymentIntentFailed: 'payment_intent.payment_failed',
    PaymentIntentPaymentReturned: 'payment_intent.payment_failed',
    PaymentIntentCanceled: 'payment_intent.canceled',
  },
  returns: PaymentIntentResource,
  view: viewPaymentIntent,
})

/** An intent becomes a payment; `services/processes/payment-intents.ts` talks to the operators. */
export const paymentIntents: Family = {
  name: 'payment-intents',
  ids: { payment_intent: 'pi', payment: 'pay', operation: 'op' },
  scopes: ['payments.read', 'payments.write'],
  streams: [paymentIntent],
  policies: paymentIntentPolicies,
  timers: paymentTimers,
  publicEvents: [told],
}
