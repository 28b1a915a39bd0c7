import { publicId } from '../../contract/identity.ts'
import {
  base,
  choice,
  Currency,
  Identity,
  literals,
  maybe,
  Metadata,
  nullable,
  proseText,
  record,
  Timestamp,
  Type,
  UnixSeconds,
  unixSeconds,
  type Static,
} from '../../contract/vocabulary.ts'
import { shownPeriod, type Subscription } from './state.ts'

const Quantity = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: 'How many of it; left out, one',
})
const reason = maybe(proseText(1000, 'Kept with the cancellation'))
const cancelsAtEnd = maybe(
  Type.Boolean({ description: 'True: it ends with its first period, or with its trial' }),
)

/** Spec, billing. What is left out there is required by rule. */
export const SubscriptionRequest = record({
  billingPlanId: maybe({ ...Identity, description: 'Required: its plan' }),
  customerId: maybe({ ...Identity, description: 'Required: who subscribes' }),
  currentPeriodStart: maybe({ ...Timestamp, description: 'Of the first period; left out, now' }),
  currentPeriodEnd: maybe({ ...Timestamp, description: 'Left out, an interval of the plan after its start' }),
  cancelAtPeriodEnd: cancelsAtEnd,
})

const trialDaysMax = 730

export const ItemsRequest = record({
  customer: { ...Identity, description: 'Who subscribes' },
  items: Type.Array(
    record({
      price: { ...Identity, description: 'Id of a plan; all have the same currency and interval' },
      quantity: maybe(Quantity),
    }),
    { minItems: 1, maxItems: 20, description: 'What is subscribed to' },
  ),
  trial_period_days: maybe(
    Type.Integer({ minimum: 0, maximum: trialDaysMax, description: 'Nothing is invoiced before its end' }),
  ),
  cancel_at_period_end: cancelsAtEnd,
  metadata: maybe(Metadata),
})

export const CancelRequest = record({
  atPeriodEnd: maybe(Type.Boolean({ description: 'False or left out: at once' })),
  reason,
})

export const MerchantCancelRequest = record({
  at_period_end: maybe(Type.Boolean({ description: 'False or left out: at once' })),
  reason,
})

const statuses = ['trialing', 'active', 'past_due', 'unpaid', 'canceled'] as const

export const SubscriptionStatus = choice(...statuses)

export const SubscriptionResource = record({
  ...base('subscription', 'sub'),
  customer: Type.String(),
  status: literals(...statuses),
  items: Type.Array(
    record({
      id: Type.String(),
      price: Type.String({ description: 'Id of the plan' }),
      quantity: Type.Integer({ minimum: 1, description: 'How many of it' }),
    }),
    { description: 'What is subscribed to' },
  ),
  currency: Currency,
  current_period_start: UnixSeconds,
  current_period_end: UnixSeconds,
  trial_end: nullable(UnixSeconds),
  cancel_at_period_end: Type.Boolean({ description: 'True: it ends with its current period' }),
  canceled_at: nullable(Timestamp),
  metadata: Metadata,
})

export type SubscriptionView = Static<typeof SubscriptionResource>

export function viewSubscription(id: string, state: Subscription): SubscriptionView | undefined {
  if (state.status === 'none') return undefined
  const { trialEnd } = state
  const span = shownPeriod(state)
  return {
    id: publicId('sub', id),
    object: 'subscription',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    customer: publicId('cus', state.customer),
    status: state.status,
    items: state.items.map(({ id: item, plan, quantity }) => {
      return { id: publicId('si', item), price: publicId('plan', plan), quantity }
    }),
    currency: state.currency,
    current_period_start: unixSeconds(span.start),
    current_period_end: unixSeconds(span.end),
    trial_end: trialEnd === null ? null : unixSeconds(trialEnd),
    cancel_at_period_end: state.cancelAtPeriodEnd,
    canceled_at: state.canceledAt,
    metadata: state.metadata,
  }
}
