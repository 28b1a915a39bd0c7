import { create, history, list, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { Currency } from '../../../packages/contract/vocabulary.ts'
import { planExamples } from '../../../packages/domain/plans/examples.ts'
import { plan } from '../../../packages/domain/plans/plan.ts'
import { PlanInterval, PlanRequest, PlanResource, viewPlan } from '../../../packages/domain/plans/resource.ts'
import { plans } from '../../../projections/plans.ts'
import { preparePlan } from '../actions/billing/plans.ts'

const viewed = { view: viewPlan, returns: PlanResource } as const
const read = { ...viewed, scope: 'billing.read', from: plans } as const
const params = { id: 'plan' }

const rows = [
  create('POST /api/v1/billing/plans', {
    ...viewed,
    summary: 'Create a plan: the price of subscriptions',
    scope: 'billing.write',
    body: PlanRequest,
    examples: planExamples,
    decider: plan,
    command: 'CreatePlan',
    prepare: preparePlan,
    comesFirst: () => true,
  }),

  list('GET /api/v1/billing/plans', {
    ...read,
    summary: 'Plans, newest first',
    paging: 'cursor',
    filter: { currency: Currency, interval: PlanInterval },
  }),

  show('GET /api/v1/billing/plans/{id}', { ...read, params, summary: 'One plan' }),

  history('GET /api/v1/billing/plans/{id}/history', { ...read, params }),
]

export const planRoutes = section(
  'Plans',
  'What a subscription costs in each period. A plan never changes: for another price, create another plan.',
  rows,
)
