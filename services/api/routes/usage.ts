import { IdentityFilter } from '../../../packages/contract/lists/envelope.ts'
import { create, history, list, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { usageExamples } from '../../../packages/domain/usage/examples.ts'
import {
  UsageRecordResource,
  UsageRequest,
  viewUsageRecord,
} from '../../../packages/domain/usage/resource.ts'
import { MeterKey, usageRecord } from '../../../packages/domain/usage/usage-record.ts'
import { usageRecords } from '../../../projections/usage.ts'
import { countUsage, prepareUsage, usageIdentity } from '../actions/billing/usage.ts'

const viewed = { view: viewUsageRecord, returns: UsageRecordResource } as const
const read = { ...viewed, scope: 'billing.read', from: usageRecords } as const
const params = { id: 'usage_record' }

const rows = [
  create('POST /api/v1/billing/usage/records', {
    ...viewed,
    summary: 'Record metered use; it is billed at the end of the period',
    scope: 'billing.write',
    body: UsageRequest,
    examples: usageExamples,
    decider: usageRecord,
    command: 'RecordUsage',
    identity: usageIdentity,
    prepare: prepareUsage,
    after: countUsage,
    refusals: [
      'resource_must_exist',
      'plan_must_be_usage_based',
      'subscription_must_be_running',
      'billing_terms_must_fit',
    ],
  }),

  list('GET /api/v1/billing/usage/records', {
    ...read,
    summary: 'Metered use, newest first',
    paging: 'cursor',
    filter: { subscriptionId: IdentityFilter, meterKey: MeterKey },
    period: 'occurred_at',
  }),

  show('GET /api/v1/billing/usage/records/{id}', {
    ...read,
    params,
    inferred: true,
    summary: 'One record of metered use',
  }),

  history('GET /api/v1/billing/usage/records/{id}/history', { ...read, params }),
]

export const usageRoutes = section(
  'Metered use',
  'What a customer uses of a plan that bills by use. What has the same `externalId` is counted once, ' +
    'however often it is sent.',
  rows,
)
