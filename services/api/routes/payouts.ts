import { change, list, perform, show } from '../../../packages/contract/routes.ts'
import { Currency } from '../../../packages/contract/vocabulary.ts'
import { payoutDestination } from '../../../packages/domain/payouts/destination.ts'
import { payout } from '../../../packages/domain/payouts/payout.ts'
import {
  DeletedPayoutDestination,
  PayoutCallback,
  PayoutDestinationRequest,
  PayoutDestinationResource,
  PayoutRequest,
  PayoutResource,
  PayoutSettingsResource,
  PayoutSettingsRevision,
  PayoutStatus,
  viewDeletedDestination,
  viewPayout,
} from '../../../packages/domain/payouts/resource.ts'
import { payouts } from '../../../projections/payouts.ts'
import { revisePayoutSettings, saveDestination, showPayoutSettings } from '../actions/payout-settings.ts'
import { createMerchantPayout, createPayout, playOperator } from '../actions/payouts.ts'

const creation = {
  scope: 'payouts.write',
  idempotency: 'required in live',
  body: PayoutRequest,
  returns: PayoutResource,
  status: 201,
  creates: { decider: payout, view: viewPayout },
  refusals: [
    'live_payout_must_have_an_idempotency_key',
    'payout_must_have_one_valid_destination',
    'operator_must_be_known',
    'operator_must_take_payouts',
    'amount_must_be_within_the_limits',
    'balance_must_cover_amount_and_fees',
    'destination_must_be_past_its_safety_delay',
    'destination_must_be_active',
    'live_provider_must_be_configured',
  ],
} as const

const one = {
  scope: 'payouts.read',
  kinds: ['payout'],
  from: payouts,
  view: viewPayout,
  returns: PayoutResource,
} as const

export const payoutRoutes = [
  perform('POST /api/v1/payouts', {
    ...creation,
    summary: 'Pay money out of the balance',
    environment: 'required',
    action: createPayout,
  }),

  show('GET /api/v1/payouts/{id}', { ...one, summary: 'One payout', environment: 'required' }),

  list('GET /api/v1/merchant/payouts', {
    ...one,
    summary: 'Payouts, newest first',
    paging: 'page',
    filter: { status: PayoutStatus, currency: Currency },
    period: 'created_at',
  }),

  show('GET /api/v1/merchant/payouts/{id}', { ...one, summary: 'One payout' }),

  perform('POST /api/v1/merchant/payouts', {
    ...creation,
    summary: 'Pay out from the dashboard; the default destination is taken when none is given',
    action: createMerchantPayout,
  }),

  perform('GET /api/v1/merchant/settings/payouts', {
    summary: 'Payout schedule, minimum balance and saved destinations',
    scope: 'settings.read',
    returns: PayoutSettingsResource,
    action: showPayoutSettings,
  }),

  perform('PATCH /api/v1/merchant/settings/payouts', {
    summary: 'Change schedule, minimum balance or default destination',
    scope: 'settings.write',
    body: PayoutSettingsRevision,
    returns: PayoutSettingsResource,
    refusals: ['payout_must_have_one_valid_destination'],
    action: revisePayoutSettings,
  }),

  perform('POST /api/v1/merchant/settings/payouts/destinations', {
    summary: 'Save a destination; it can be used after the safety delay',
    scope: 'settings.write',
    body: PayoutDestinationRequest,
    returns: PayoutDestinationResource,
    status: 201,
    refusals: [
      'payout_must_have_one_valid_destination',
      'operator_must_be_known',
      'operator_must_take_payouts',
      'resource_must_not_exist_yet',
    ],
    action: saveDestination,
  }),

  change('DELETE /api/v1/merchant/settings/payouts/destinations/{id}', {
    summary: 'Remove a destination; payouts under way go on',
    scope: 'settings.write',
    returns: DeletedPayoutDestination,
    decider: payoutDestination,
    command: 'RemoveDestination',
    data: () => ({}),
    view: viewDeletedDestination,
  }),

  perform('POST /api/test/payouts/callback', {
    summary: 'Sandbox only: play the operator and finish a payout',
    scope: 'payouts.write',
    body: PayoutCallback,
    returns: PayoutResource,
    refusals: ['resource_must_exist', 'resource_state_must_allow_it'],
    action: playOperator,
  }),
]
