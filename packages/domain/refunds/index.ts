import type { Family } from '../../contract/family.ts'
import { holdOwner } from '../../contract/hold-owners.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { refundPolicies } from './policies.ts'
import { refund } from './refund.ts'
import { RefundResource, viewRefund } from './resource.ts'

const told = publicEvents(refund, {
  scope: 'payments.read',
  types: {
    'refund.created': 'A refund was requested and its amount is held.',
    'refund.succeeded': 'The payer has the money back.',
    'refund.failed': 'The refund failed and its amount is available again.',
  },
  events: {
    RefundRequested: 'refund.created',
    RefundSucceeded: 'refund.succeeded',
    RefundPaidLate: 'refund.succeeded',
    RefundFailed: 'refund.failed',
    RefundReturned: 'refund.failed',
  },
  returns: RefundResource,
  view: viewRefund,
})

/** A refund returns part of a payment; `services/processes/refunds.ts` talks to the operators. */
export const refunds: Family = {
  name: 'refunds',
  ids: { refund: 're' },
  scopes: ['refunds.write'],
  streams: [refund],
  policies: refundPolicies,
  holdOwners: [
    holdOwner(refund, {
      abandon: () => ({ type: 'AbandonRefund', data: { paymentIntent: null } }),
      claims: (state, currency) => 'currency' in state && state.currency === currency,
    }),
  ],
  publicEvents: [told],
}
