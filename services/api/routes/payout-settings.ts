import { change, create, history, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  destinationId,
  payoutDestination,
  savedDestination,
} from '../../../packages/domain/payouts/destination.ts'
import { destinationExamples, settingsExamples } from '../../../packages/domain/payouts/examples.ts'
import {
  DeletedPayoutDestination,
  PayoutDestinationRequest,
  PayoutDestinationResource,
  PayoutSettingsResource,
  PayoutSettingsRevision,
  viewDeletedDestination,
  viewPayoutChoices,
  viewPayoutDestination,
  viewPayoutSettings,
} from '../../../packages/domain/payouts/resource.ts'
import { payoutSettings, payoutSettingsId } from '../../../packages/domain/payouts/settings.ts'
import { payoutDestinations, payoutSettingsDocuments } from '../../../projections/payouts.ts'
import { besideSettings, makeDefault, prepareRevision } from '../actions/payout-settings.ts'

const own = {
  subject: payoutSettingsId,
  from: payoutSettingsDocuments,
  returns: PayoutSettingsResource,
} as const

const settings = { ...own, view: viewPayoutSettings, beside: besideSettings } as const

const destination = { view: viewPayoutDestination, returns: PayoutDestinationResource } as const

const rows = [
  show('GET /api/v1/merchant/settings/payouts', {
    ...settings,
    summary: 'Payout schedule, minimum balance and saved destinations',
    scope: 'settings.read',
  }),

  change('PATCH /api/v1/merchant/settings/payouts', {
    ...settings,
    summary: 'Change schedule, minimum balance or default destination',
    scope: 'settings.write',
    body: PayoutSettingsRevision,
    examples: settingsExamples,
    decider: payoutSettings,
    command: 'RevisePayoutSettings',
    prepare: prepareRevision,
    refusals: ['payout_must_have_one_valid_destination'],
  }),

  history('GET /api/v1/merchant/settings/payouts/history', {
    ...own,
    scope: 'settings.read',
    view: viewPayoutChoices,
  }),

  create('POST /api/v1/merchant/settings/payouts/destinations', {
    ...destination,
    summary: 'Save a destination; it can be used after the safety delay',
    scope: 'settings.write',
    body: PayoutDestinationRequest,
    examples: destinationExamples,
    decider: payoutDestination,
    command: 'SaveDestination',
    data: savedDestination,
    identity: (body, caller) => destinationId(caller, savedDestination(body).destination),
    after: makeDefault,
    refusals: [
      'payout_must_have_one_valid_destination',
      'operator_must_be_known',
      'operator_must_take_payouts',
      'resource_must_not_exist_yet',
    ],
  }),

  show('GET /api/v1/merchant/settings/payouts/destinations/{id}', {
    params: { id: 'payout_destination' },
    summary: 'One saved destination',
    scope: 'settings.read',
    inferred: true,
    ...destination,
    from: payoutDestinations,
  }),

  history('GET /api/v1/merchant/settings/payouts/destinations/{id}/history', {
    params: { id: 'payout_destination' },
    scope: 'settings.read',
    ...destination,
    from: payoutDestinations,
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
