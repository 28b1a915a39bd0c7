import type { Family } from '../../contract/family.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { checkoutSession } from './checkout-session.ts'
import { checkoutPolicies } from './policies.ts'
import { CheckoutSessionResource, viewCheckoutSession } from './resource.ts'
import { checkoutTimers } from './timers.ts'

const told = publicEvents(checkoutSession, {
  scope: 'payments.read',
  types: {
    'checkout_session.completed': 'The payer has paid the checkout session.',
    'checkout_session.payment_failed': 'The operator has taken back the payment of a completed session.',
    'checkout_session.canceled': 'The payer has given up the checkout session.',
    'checkout_session.expired': 'Nobody has paid the checkout session in time.',
  },
  events: {
    CheckoutSessionCompleted: 'checkout_session.completed',
    CheckoutSessionPaymentReturned: 'checkout_session.payment_failed',
    CheckoutSessionCanceled: 'checkout_session.canceled',
    CheckoutSessionExpired: 'checkout_session.expired',
  },
  returns: CheckoutSessionResource,
  view: (id, state) => viewCheckoutSession(id, state),
})

/** A page of ours on which one payer pays once. Each try to pay is a payment intent. */
export const checkout: Family = {
  name: 'checkout',
  ids: { checkout_session: 'cs', receipt: 'rcp' },
  missing: { checkout_session: 'checkout_session_must_exist' },
  streams: [checkoutSession],
  policies: checkoutPolicies,
  timers: checkoutTimers,
  publicEvents: [told],
}
