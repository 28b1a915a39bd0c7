import { identity } from '../../../../packages/contract/identity.ts'
import { refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { timeZoneOf } from '../../../../packages/contract/locale/time-zones.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import { metersOf as metersOfPlan, type Plan } from '../../../../packages/domain/plans/plan.ts'
import { endOf, scheduleOf, type Timing } from '../../../../packages/domain/subscriptions/periods.ts'
import { meteredMax, metersOf } from '../../../../packages/domain/subscriptions/state.ts'
import type { ItemsRequest, SubscriptionRequest } from '../../../../packages/domain/subscriptions/resource.ts'
import type { SubscriptionCommands } from '../../../../packages/domain/subscriptions/subscription.ts'
import { plans } from '../../../../projections/plans.ts'
import { currentState } from '../../kinds/current-state.ts'
import { namedCustomer } from './customers.ts'
import { refuseUnknown } from '../../kinds/prefixes.ts'
import { activeMerchant } from '../hosted/checkout-terms.ts'

type Start = SubscriptionCommands['StartSubscription']
type RequestPart = Pick<Request, 'owner' | 'caller' | 'dependencies' | 'id'>
type ActivePlan = Extract<Plan, { status: 'active' }>

/** Inferred: how long before its first period a subscription may be made. */
const aheadMaxMs = 730 * 86_400_000
/** Inferred: the most that one period may cost. It keeps invoices countable, with what is metered. */
const recurringMax = 1e15

interface Wish {
  readonly customer: string
  readonly items: readonly { readonly plan: string; readonly pointer: string; readonly quantity: number }[]
  readonly start?: string | null | undefined
  readonly end?: string | null | undefined
  readonly trialDays?: number | null | undefined
  readonly cancelAtPeriodEnd?: boolean | null | undefined
  readonly metadata?: Readonly<Record<string, string>> | null | undefined
  readonly customerPointer: string
}

export function prepareSubscription(request: Request<Static<typeof SubscriptionRequest>>): Promise<Start> {
  const { billingPlanId, customerId, currentPeriodStart, currentPeriodEnd, cancelAtPeriodEnd } = request.body
  if (!billingPlanId) refuseField('request_must_be_valid', '/billingPlanId', 'billingPlanId is required')
  if (!customerId) refuseField('request_must_be_valid', '/customerId', 'customerId is required')
  return startOf(request, {
    customer: customerId,
    customerPointer: '/customerId',
    items: [{ plan: billingPlanId, pointer: '/billingPlanId', quantity: 1 }],
    start: currentPeriodStart,
    end: currentPeriodEnd,
    cancelAtPeriodEnd,
  })
}

export function prepareItems(request: Request<Static<typeof ItemsRequest>>): Promise<Start> {
  const { customer, items, trial_period_days, cancel_at_period_end, metadata } = request.body
  return startOf(request, {
    customer,
    customerPointer: '/customer',
    items: items.map(({ price, quantity }, index) => {
      return { plan: price, pointer: `/items/${index}/price`, quantity: quantity ?? 1 }
    }),
    trialDays: trial_period_days,
    cancelAtPeriodEnd: cancel_at_period_end,
    metadata,
  })
}

async function startOf(request: RequestPart, wish: Wish): Promise<Start> {
  const { caller, dependencies } = request
  const subscriber = await customerOf(request, wish.customer, wish.customerPointer)
  const merchant = await activeMerchant(dependencies, caller.merchant)
  const items = await Promise.all(
    wish.items.map(async (item) => ({ ...item, ...(await planOf(request, item.plan, item.pointer)) })),
  )
  const [{ currency, interval }] = items as [(typeof items)[number]]
  const other = items.find((item) => item.currency !== currency || item.interval !== interval)
  if (other) {
    const message = `this plan is paid in ${other.currency} each ${other.interval}, the first one in ${currency} each ${interval}`
    refuseField('billing_terms_must_fit', other.pointer, message)
  }
  if (subscriber.currency !== currency) {
    const message = `the customer pays in ${subscriber.currency}, the plan is in ${currency}`
    refuseField('billing_terms_must_fit', wish.customerPointer, message)
  }
  if (items.reduce((sum, item) => sum + item.quantity * item.unitAmount, 0) > recurringMax)
    refuseField('billing_terms_must_fit', items[0]!.pointer, 'one period would cost more than can be counted')
  if (Object.values(metersOf(items)).reduce((sum, price) => sum + price, 0) > meteredMax)
    refuseField('billing_terms_must_fit', items[0]!.pointer, 'its use would cost more than can be counted')
  return {
    customer: subscriber.id,
    currency,
    items: items.map(({ id, name, quantity, unitAmount, meters }) => ({
      plan: id,
      name,
      quantity,
      unitAmount,
      meters,
    })),
    timing: admittedTiming(request, wish, { interval, timeZone: timeZoneOf(merchant.country) }),
    cancelAtPeriodEnd: wish.cancelAtPeriodEnd ?? false,
    metadata: { ...wish.metadata },
    invoicing: {
      pages: `${dependencies.baseUrl}/invoice`,
      seed: await dependencies.blindIndex(JSON.stringify(['invoices of', request.id])),
    },
  }
}

export async function customerOf(
  request: Pick<Request, 'owner' | 'dependencies'>,
  text: string,
  pointer: string,
) {
  const { id, currency, email } =
    (await namedCustomer(request, text)) ?? refuseUnknown(pointer, 'customer', text)
  return { id, currency, email }
}

async function planOf(request: RequestPart, text: string, pointer: string) {
  const id = identity(text, 'plan')
  const state = id && ((await currentState(request, plans, id)) as ActivePlan | undefined)
  if (!id || !state) return refuseUnknown(pointer, 'plan', text)
  const { name, currency, interval, recurring_amount, usage_based_enabled, metadata } = state
  const meters = usage_based_enabled ? metersOfPlan(metadata) : {}
  return { id, name, currency, interval, unitAmount: recurring_amount, meters }
}

/** The first period must not have ended, and must not begin in a time that nobody will see. */
function admittedTiming(
  { owner, dependencies }: RequestPart,
  { start, end, trialDays }: Wish,
  usual: Pick<Timing, 'interval' | 'timeZone'>,
): Timing {
  const now = dependencies.clock(owner)
  const begins = start ? new Date(start) : now
  const latest = new Date(now.getTime() + aheadMaxMs)
  if (begins > latest)
    refuseField('request_must_be_valid', '/currentPeriodStart', 'must be within two years from now')
  const timing: Timing = {
    ...usual,
    start: begins.toISOString(),
    end: end ? new Date(end).toISOString() : null,
    trialDays: trialDays || null,
  }
  const field = end ? '/currentPeriodEnd' : '/currentPeriodStart'
  const { first } = scheduleOf(timing)
  if (first.end <= first.start)
    refuseField('request_must_be_valid', field, 'the period must end after its start')
  if (first.end <= now.toISOString())
    refuseField('request_must_be_valid', field, 'the first period has ended already')
  const longest = endOf({ ...units10Years(timing) }, first.start)
  if (first.end > longest) refuseField('request_must_be_valid', field, 'a period has at most ten years')
  return timing
}

function units10Years({ start, timeZone }: Timing) {
  return { anchor: start, unit: 'year', every: 10, count: null, timeZone } as const
}
