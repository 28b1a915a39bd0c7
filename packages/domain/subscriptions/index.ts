import type { Family } from '../../contract/family.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { subscriptionPolicies } from './policies.ts'
import { SubscriptionResource, viewSubscription } from './resource.ts'
import { subscription } from './subscription.ts'
import { subscriptionTimers } from './timers.ts'

const told = publicEvents(subscription, {
  scope: 'billing.read',
  types: {
    'subscription.created': 'A subscription has begun, or waits for its first period.',
    'subscription.renewed': 'A period has begun, for which an invoice is issued.',
    'subscription.past_due': 'An invoice of the subscription is overdue.',
    'subscription.recovered': 'No invoice of the subscription is overdue any more.',
    'subscription.unpaid': 'An invoice is overdue for too long: the subscription is not renewed any more.',
    'subscription.cancel_scheduled': 'The subscription ends with its current period.',
    'subscription.canceled': 'The subscription has ended.',
  },
  events: {
    SubscriptionStarted: 'subscription.created',
    SubscriptionRenewed: 'subscription.renewed',
    SubscriptionBecamePastDue: 'subscription.past_due',
    SubscriptionRecovered: 'subscription.recovered',
    SubscriptionBecameUnpaid: 'subscription.unpaid',
    SubscriptionCancelScheduled: 'subscription.cancel_scheduled',
    SubscriptionCanceled: 'subscription.canceled',
  },
  returns: SubscriptionResource,
  view: viewSubscription,
})

/** Who pays for what in each period. */
export const subscriptions: Family = {
  name: 'subscriptions',
  ids: { subscription: 'sub', subscription_item: 'si' },
  streams: [subscription],
  policies: subscriptionPolicies,
  timers: subscriptionTimers,
  publicEvents: [told],
}
