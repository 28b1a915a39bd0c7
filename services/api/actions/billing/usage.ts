import { derivedId, identity } from '../../../../packages/contract/identity.ts'
import { Refusal, refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import type { Plan } from '../../../../packages/domain/plans/plan.ts'
import {
  billableOf,
  meteredMax,
  metersOf,
  renewsAtEnd,
  type ExistingSubscription,
  type Subscription,
} from '../../../../packages/domain/subscriptions/state.ts'
import type { SubscriptionCommands } from '../../../../packages/domain/subscriptions/subscription.ts'
import type { UsageRequest } from '../../../../packages/domain/usage/resource.ts'
import { meterId, openQuantity, usageMeter } from '../../../../packages/domain/usage/usage-meter.ts'
import {
  usageRecord,
  type UsageRecord,
  type UsageRecordCommands,
} from '../../../../packages/domain/usage/usage-record.ts'
import type { Outcome } from '../../../../packages/kernel/execution/options.ts'
import { plans } from '../../../../projections/plans.ts'
import { subscriptions } from '../../../../projections/subscriptions.ts'
import { currentState, currentStream } from '../../kinds/current-state.ts'
import { refuseUnknown } from '../../kinds/prefixes.ts'

type Body = Static<typeof UsageRequest>
type RequestPart = Pick<Request, 'owner' | 'dependencies'>
type Used = UsageRecordCommands['RecordUsage']

/** What has an external id is one record for ever. */
export function usageIdentity({ subscriptionId, meterKey, externalId }: Body): string | undefined {
  if (!externalId || !meterKey || !subscriptionId) return undefined
  const subscription = identity(subscriptionId, 'sub')
  return subscription && derivedId(meterId(subscription, meterKey), externalId)
}

/** What was recorded is shown again also where it would be refused by now: it is counted, and is billed. */
export async function prepareUsage(request: Request<Body>): Promise<Used> {
  try {
    return await admitted(request)
  } catch (error) {
    const known = error instanceof Refusal ? await recordedBefore(request) : undefined
    if (known) return known
    throw error
  }
}

async function recordedBefore(request: Request<Body>): Promise<Used | undefined> {
  const id = usageIdentity(request.body) ?? request.id
  const found = await currentStream(request, { decider: usageRecord, id })
  const state = found?.state as UsageRecord | undefined
  if (!state || state.status === 'none') return undefined
  const { status: _, livemode: _livemode, createdAt: _createdAt, ...used } = state
  return used
}

async function admitted(request: Request<Body>): Promise<Used> {
  const { subscriptionId, meterKey, quantity, occurredAt, externalId } = request.body
  if (!subscriptionId) refuseField('request_must_be_valid', '/subscriptionId', 'subscriptionId is required')
  if (!meterKey) refuseField('request_must_be_valid', '/meterKey', 'meterKey is required')
  const { id, ...state } = await subscriptionOf(request, subscriptionId)
  if (!(await isUsageBased(request, state))) refuse('plan_must_be_usage_based')
  if (state.status === 'canceled')
    refuse('subscription_must_be_running', { detail: 'The subscription was canceled' })
  const now = request.dependencies.clock(request.owner).toISOString()
  const at = occurredAt ?? now
  if (at > now) refuseField('request_must_be_valid', '/occurredAt', 'occurredAt is in the future')
  if (!renewsAtEnd(state) && at >= state.period.end) {
    const detail = 'Nothing is billed after the period that is over: the subscription is not renewed'
    refuse('subscription_must_be_running', { detail })
  }
  const [used, period] = [{ meterKey, quantity: quantity ?? 1 }, periodOf(state, at)]
  if (period > 0) await mustStayCountable(request, { id, items: state.items, ...used })
  const { customer } = state
  return { subscription: id, customer, ...used, occurredAt: at, externalId: externalId ?? null, period }
}

/** The period in which it is billed. 0 is free, however late it is told: a trial, or before the beginning. */
function periodOf({ createdAt, first, period }: ExistingSubscription, at: string): number {
  const isBeforeFirst = createdAt < first.start && at < first.start
  if (isBeforeFirst) return 0
  return at >= period.end ? period.number + 1 : period.number
}

async function subscriptionOf(
  request: RequestPart,
  text: string,
): Promise<ExistingSubscription & { id: string }> {
  const id = identity(text, 'sub')
  const state = id && ((await currentState(request, subscriptions, id)) as Subscription | undefined)
  if (!id || !state || state.status === 'none') return refuseUnknown('/subscriptionId', 'subscription', text)
  return { id, ...state }
}

async function isUsageBased(
  request: RequestPart,
  { items }: Pick<ExistingSubscription, 'items'>,
): Promise<boolean> {
  const found = await Promise.all(items.map(({ plan }) => currentState(request, plans, plan)))
  return (found as (Plan | undefined)[]).some((plan) => plan?.status === 'active' && plan.usage_based_enabled)
}

interface Counted extends Pick<ExistingSubscription, 'items'> {
  readonly id: string
  readonly meterKey: string
  readonly quantity: number
}

async function mustStayCountable(
  { dependencies }: RequestPart,
  { id, items, meterKey, quantity }: Counted,
): Promise<void> {
  const { state: meter } = await dependencies.executor.current(usageMeter, meterId(id, meterKey))
  const price = metersOf(items)[meterKey] ?? 0
  if ((openQuantity(meter) + quantity) * price <= meteredMax) return
  const message = 'the use of this period would cost more than one invoice can ask for'
  refuseField('billing_terms_must_fit', '/quantity', message)
}

/** A policy would count it a moment later: so it is in the period that was shown to be open. */
export async function countUsage(
  request: Pick<Request, 'send'>,
  outcome: Outcome<UsageRecord>,
): Promise<void> {
  const { id: record, state, appended, position } = outcome
  if (state.status === 'none' || appended === 0) return
  const { subscription, meterKey, quantity, period } = state
  const count = { record, quantity, period, position }
  await request.send(usageMeter, meterId(subscription, meterKey), { type: 'CountUsage', data: count })
}

interface Canceling {
  readonly atPeriodEnd?: boolean | null | undefined
  readonly reason?: string | null | undefined
}

/** What was used until now is billed when the subscription ends now. */
export async function prepareCancel(
  request: Pick<Request, 'owner' | 'dependencies' | 'params' | 'send'>,
  { atPeriodEnd, reason }: Canceling,
): Promise<SubscriptionCommands['CancelSubscription']> {
  const id = request.params['id']!
  const given = { atPeriodEnd: atPeriodEnd ?? false, reason: reason ?? null }
  const state = (await currentState(request, subscriptions, id)) as Subscription | undefined
  const isRunning = state && state.status !== 'none' && state.status !== 'canceled'
  if (given.atPeriodEnd || !isRunning) return { ...given, usage: {}, number: null }
  const { number: period } = state.period
  const usage: [string, number][] = []
  for (const [meterKey, most] of billableOf(state.items)) {
    const close = { type: 'ClosePeriod', data: { period, most } } as const
    const { closed } = (await request.send(usageMeter, meterId(id, meterKey), close)).state
    if (closed?.period === period) usage.push([meterKey, closed.quantity])
  }
  // A meter may be `__proto__`.
  return { ...given, usage: Object.fromEntries(usage), number: period }
}
