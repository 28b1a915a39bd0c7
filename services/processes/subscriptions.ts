import {
  billableOf,
  type ExistingSubscription,
  type Subscription,
  type Usage,
} from '../../packages/domain/subscriptions/state.ts'
import { subscription } from '../../packages/domain/subscriptions/subscription.ts'
import { meterId, usageMeter, type UsageMeter } from '../../packages/domain/usage/usage-meter.ts'
import type { Outcome } from '../../packages/kernel/execution/options.ts'
import { to, type PolicyCommand } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import type { Process, Tools } from './runner/process.ts'

export const subscriptionProcess: Process = {
  timers: { subscription_period: renew, subscription_unpaid: markUnpaid },
}

/** Missed periods are made up, one after the other: each is renewed, and billed, once. */
async function renew(timer: DueTimer, tools: Tools): Promise<undefined> {
  const { subject: id, merchant, livemode, dueAt } = timer
  const { executor, clock } = tools.dependencies
  const until = tools.onePeriod ? Date.parse(dueAt) : clock().getTime()
  // Through the executor, which remembers it for the command: each subscription is read once.
  let known: Outcome<Subscription> = await executor.current(subscription, id)
  for (;;) {
    const { state } = known
    if (state.status === 'none' || state.status === 'canceled') return
    const { number, end } = state.period
    if (Date.parse(end) > until) return
    const usage = await closedUsage(id, state, (order) => tools.send(order, { merchant, livemode }, 'timer'))
    const order = to(subscription, id, { type: 'RenewSubscription', data: { number, usage } })
    // The executor erases the types of deciders: this is the subscription that the command was sent to.
    known = (await tools.send(order, { merchant, livemode }, 'timer')) as Outcome<Subscription>
    if (known.appended === 0) return
  }
}

/** What was used in the period that is over: it is closed first, so that it is billed once. */
async function closedUsage(
  id: string,
  { items, period: { number: period } }: ExistingSubscription,
  send: (order: PolicyCommand) => Promise<Outcome<unknown>>,
): Promise<Usage> {
  const usage: [string, number][] = []
  for (const [meterKey, most] of billableOf(items)) {
    const order = to(usageMeter, meterId(id, meterKey), { type: 'ClosePeriod', data: { period, most } })
    // The executor erases the types of deciders: this is the meter that the command was sent to.
    const { closed } = (await send(order)).state as UsageMeter
    if (closed?.period === period) usage.push([meterKey, closed.quantity])
  }
  // A meter may be `__proto__`.
  return Object.fromEntries(usage)
}

async function markUnpaid({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<undefined> {
  const order = to(subscription, subject, { type: 'MarkUnpaid', data: {} })
  await tools.send(order, { merchant, livemode }, 'timer')
}
