import { change, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { payoutDestination } from '../../../packages/domain/payouts/destination.ts'
import { destinationExamples, settingsExamples } from '../../../packages/domain/payouts/examples.ts'
import {
  DeletedPayoutDestination,
  PayoutDestinationRequest,
  PayoutDestinationResource,
  PayoutSettingsResource,
  PayoutSettingsRevision,
  viewDeletedDestination,
  viewPayoutDestination,
} from '../../../packages/domain/payouts/resource.ts'
import { payoutSettingsId } from '../../../packages/domain/payouts/settings.ts'
import { payoutDestinations } from '../../../projections/payouts.ts'
import { revisePayoutSettings, saveDestination, showPayoutSettings } from '../actions/payout-settings.ts'

const rows = [
  perform('GET /api/v1/merchant/settings/payouts', {
    subject: payoutSettingsId,
    summary: 'Payout schedule, minimum balance and saved destinations',
    scope: 'settings.read',
    returns: PayoutSettingsResource,
    action: showPayoutSettings,
  }),

  perform('PATCH /api/v1/merchant/settings/payouts', {
    subject: payoutSettingsId,
    isChange: true,
    summary: 'Change schedule, minimum balance or default destination',
    scope: 'settings.write',
    body: PayoutSettingsRevision,
    examples: settingsExamples,
    returns: PayoutSettingsResource,
    refusals: ['payout_must_have_one_valid_destination'],
    action: revisePayoutSettings,
  }),

  perform('POST /api/v1/merchant/settings/payouts/destinations', {
    summary: 'Save a destination; it can be used after the safety delay',
    scope: 'settings.write',
    body: PayoutDestinationRequest,
    examples: destinationExamples,
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

  show('GET /api/v1/merchant/settings/payouts/destinations/{id}', {
    params: { id: 'payout_destination' },
    summary: 'One saved destination',
    scope: 'settings.read',
    inferred: true,
    from: payoutDestinations,
    view: viewPayoutDestination,
    returns: PayoutDestinationResource,
  }),

  change('DELETE /api/v1/merchant/settings/payouts/destinations/{id}', {
    params: { id: 'payout_destination' },
    summary: 'Remove a destination; payouts under way go on',
    scope: 'settings.write',
    returns: DeletedPayoutDestination,
    decider: payoutDestination,
    command: 'RemoveDestination',
    data: () => ({}),
    view: viewDeletedDestination,
  }),
]

export const payoutSettingsRoutes = section(
  'Payout settings',
  'Automatic payouts, and saved destinations. A new destination can be used after a safety delay.',
  rows,
)
