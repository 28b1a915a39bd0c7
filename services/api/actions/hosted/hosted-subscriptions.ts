import {
  CountMinor,
  Currency,
  literals,
  nullable,
  record,
  Type,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import { today } from '../../../../packages/domain/invoices/due.ts'
import { units, type Interval } from '../../../../packages/domain/subscriptions/periods.ts'
import { SubscriptionResource, viewSubscription } from '../../../../packages/domain/subscriptions/resource.ts'
import { isAwaited, type Subscription } from '../../../../packages/domain/subscriptions/state.ts'

// A subscription as its customer sees it.

const { id, status, items, current_period_end, cancel_at_period_end } = SubscriptionResource.properties

export const HostedSubscription = record({
  id,
  status,
  names: Type.Array(Type.String(), { description: 'What is subscribed to, as far as its plans have names' }),
  items,
  amount: { ...CountMinor, description: 'What each period costs, without what is metered' },
  currency: Currency,
  interval: literals(...(Object.keys(units) as Interval[])),
  current_period_end,
  begins_on: nullable(
    Type.String({
      format: 'date',
      description: 'The day on which its first period begins, while it waits for it',
    }),
  ),
  ends_on: Type.String({ format: 'date', description: 'The day on which its period ends' }),
  cancel_at_period_end,
})

export function viewHostedSubscription(
  id: string,
  state: Subscription,
): Static<typeof HostedSubscription> | undefined {
  const view = viewSubscription(id, state)
  if (state.status === 'none' || !view) return undefined
  const { unit, every, timeZone } = state.recurrence
  const interval = Object.entries(units).find(([, one]) => one.unit === unit && one.every === every)!
  const { status, items, currency, current_period_end, cancel_at_period_end } = view
  const dayOf = (seconds: number) => today(timeZone, new Date(seconds * 1_000))
  const waits = isAwaited(state) && status !== 'canceled'
  return {
    id: view.id,
    status,
    names: state.items.map(({ name }) => name).filter((name) => name !== null),
    items,
    amount: state.items.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0),
    currency,
    interval: interval[0] as Interval,
    current_period_end,
    begins_on: waits ? dayOf(view.current_period_start) : null,
    ends_on: dayOf(current_period_end),
    cancel_at_period_end,
  }
}
