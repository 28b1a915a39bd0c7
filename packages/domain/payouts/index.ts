import type { Family } from '../../contract/family.ts'
import { holdOwner } from '../../contract/hold-owners.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { payoutDestination } from './destination.ts'
import { payout } from './payout.ts'
import { payoutPolicies } from './policies.ts'
import { PayoutDestinationResource, PayoutResource, viewPayout, viewPayoutDestination } from './resource.ts'
import { payoutSettings } from './settings.ts'
import { payoutTimers } from './timers.ts'

const told = publicEvents(payout, {
  scope: 'payouts.read',
  types: {
    'payout.created': 'A payout was requested and its amount is held.',
    'payout.in_transit': 'The payout was handed to the operator or the bank.',
    'payout.delayed': 'The payout is later than expected and still on its way.',
    'payout.paid': 'The beneficiary has the money.',
    'payout.failed': 'The payout failed, or its money came back (`failure_code` returned).',
    'payout.canceled': 'The payout was canceled before it was sent.',
  },
  events: {
    PayoutRequested: 'payout.created',
    PayoutSent: 'payout.in_transit',
    PayoutDelayed: 'payout.delayed',
    PayoutPaid: 'payout.paid',
    PayoutPaidLate: 'payout.paid',
    PayoutFailed: 'payout.failed',
    PayoutReturned: 'payout.failed',
    PayoutCanceled: 'payout.canceled',
  },
  returns: PayoutResource,
  view: viewPayout,
})

const destinationTold = publicEvents(payoutDestination, {
  scope: 'settings.read',
  types: {
    'payout_destination.created': 'A destination for payouts was saved.',
    'payout_destination.deleted': 'A saved destination was removed.',
  },
  events: {
    PayoutDestinationSaved: 'payout_destination.created',
    PayoutDestinationRemoved: 'payout_destination.deleted',
  },
  returns: PayoutDestinationResource,
  view: viewPayoutDestination,
})

/**
 * A payout is a hold that is posted or given back; `services/processes/payouts.ts` talks to the operators.
 */
export const payouts: Family = {
  name: 'payouts',
  ids: { payout: 'po' },
  scopes: ['payouts.read', 'payouts.write', 'settings.read', 'settings.write'],
  streams: [payout, payoutDestination, payoutSettings],
  policies: payoutPolicies,
  holdOwners: [
    holdOwner(payout, {
      abandon: (currency) => ({ type: 'AbandonPayout', data: { currency } }),
      claims: (state, currency) => 'money' in state && state.money.currency === currency,
    }),
  ],
  timers: payoutTimers,
  publicEvents: [told, destinationTold],
}
