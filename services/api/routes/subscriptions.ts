import { IdentityFilter } from '../../../packages/contract/lists/envelope.ts'
import { change, create, history, list, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  cancelExamples,
  itemsExamples,
  merchantCancelExamples,
  subscriptionExamples,
} from '../../../packages/domain/subscriptions/examples.ts'
import {
  CancelRequest,
  ItemsRequest,
  MerchantCancelRequest,
  SubscriptionRequest,
  SubscriptionResource,
  SubscriptionStatus,
  viewSubscription,
} from '../../../packages/domain/subscriptions/resource.ts'
import { subscription } from '../../../packages/domain/subscriptions/subscription.ts'
import { subscriptions } from '../../../projections/subscriptions.ts'
import { prepareCancel } from '../actions/billing/usage.ts'
import { prepareItems, prepareSubscription } from '../actions/billing/subscriptions.ts'

const viewed = { view: viewSubscription, returns: SubscriptionResource } as const
const read = { ...viewed, scope: 'billing.read', from: subscriptions } as const
const params = { id: 'subscription' }
const creation = {
  ...viewed,
  scope: 'billing.write',
  decider: subscription,
  command: 'StartSubscription',
  refusals: ['billing_terms_must_fit', 'resource_must_exist'],
} as const
const cancellation = {
  ...viewed,
  params,
  scope: 'billing.write',
  decider: subscription,
  command: 'CancelSubscription',
  refusals: ['subscription_must_be_running'],
} as const

const rows = [
  create('POST /api/v1/billing/subscriptions', {
    ...creation,
    summary: 'Start a subscription; the first invoice is issued when its first period begins',
    body: SubscriptionRequest,
    examples: subscriptionExamples,
    prepare: prepareSubscription,
  }),

  list('GET /api/v1/billing/subscriptions', {
    ...read,
    summary: 'Subscriptions, newest first',
    paging: 'cursor',
    filter: { status: SubscriptionStatus, customerId: IdentityFilter, billingPlanId: IdentityFilter },
  }),

  show('GET /api/v1/billing/subscriptions/{id}', { ...read, params, summary: 'One subscription' }),

  change('POST /api/v1/billing/subscriptions/{id}/cancel', {
    ...cancellation,
    summary: 'Cancel now or at the end of the period',
    body: CancelRequest,
    examples: cancelExamples,
    prepare: (request) => prepareCancel(request, request.body),
  }),

  history('GET /api/v1/billing/subscriptions/{id}/history', { ...read, params }),

  list('GET /api/v1/merchant/subscriptions', {
    ...read,
    summary: 'Subscriptions, newest first',
    paging: 'page',
    filter: { status: SubscriptionStatus },
  }),

  show('GET /api/v1/merchant/subscriptions/{id}', { ...read, params, summary: 'One subscription' }),

  create('POST /api/v1/merchant/subscriptions', {
    ...creation,
    twinOf: 'POST /api/v1/billing/subscriptions',
    summary: 'Start a subscription to one or several plans, with a trial where wanted',
    body: ItemsRequest,
    examples: itemsExamples,
    prepare: prepareItems,
  }),

  change('POST /api/v1/merchant/subscriptions/{id}/cancel', {
    ...cancellation,
    summary: 'Cancel now or at the end of the period',
    body: MerchantCancelRequest,
    examples: merchantCancelExamples,
    prepare: (request) => {
      const { at_period_end: atPeriodEnd, reason } = request.body
      return prepareCancel(request, { atPeriodEnd, reason })
    },
  }),
]

export const subscriptionRoutes = section(
  'Subscriptions',
  'A customer pays for one or several plans in each period. A subscription renews itself until it is ' +
    'canceled, or stays unpaid for too long.',
  rows,
)
