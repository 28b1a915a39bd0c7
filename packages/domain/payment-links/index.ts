import type { Family } from '../../contract/family.ts'
import { paymentLink } from './payment-link.ts'
import { paymentLinkPolicies } from './policies.ts'
import { paymentLinkTimers } from './timers.ts'

/** A link that anybody can pay by: each payer gets a checkout session. Its id has no prefix. */
export const paymentLinks: Family = {
  name: 'payment-links',
  streams: [paymentLink],
  policies: paymentLinkPolicies,
  timers: paymentLinkTimers,
}
