import {
  billableOf,
  shownPeriod,
  unpaidFrom,
  type ExistingSubscription,
  type Subscription,
  type Usage,
} from '../../packages/domain/subscriptions/state.ts'
import { subscription, type SubscriptionCommands } from '../../packages/domain/subscriptions/subscription.ts'
import { meterId, usageMeter, type UsageMeter } from '../../packages/domain/usage/usage-meter.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import type { Outcome } from '../../packages/kernel/execution/options.ts'
import { to, type PolicyCommand } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import type { Process, Tools } from './runner/process.ts'

export const subscriptionProcess: Process = {
  timers: { subscription_period: catchUp, subscription_unpaid: catchUp },
}

/**
 * All that is due, in the order of its time, whichever timer comes first: one that fails, or whose kind has
 * to wait, is overtaken. Missed periods are made up, one after the other: each is renewed, and billed, once.
 */
async function catchUp(timer: DueTimer, tools: Tools): Promise<undefined> {
  const { subject: id, merchant, livemode, dueAt } = timer
  const { executor, clock } = tools.dependencies
  const until = tools.onePeriod ? Date.parse(dueAt) : clock().getTime()
  const send = (order: PolicyCommand) => tools.send(order, { merchant, livemode }, 'timer')
  // Through the executor, which remembers it for the command: each subscription is read once.
  let known: Outcome<Subscription> = await executor.current(subscription, id)
  for (;;) {
    const next = nextOf(id, known.state)
    if (!next || Date.parse(next.at) > until) return
    // The executor erases the types of deciders: this is the subscription that the command was sent to.
    known = (await send(to(subscription, id, await next.command(send)))) as Outcome<Subscription>
    if (known.appended === 0) return
  }
}

type Send = (order: PolicyCommand) => Promise<Outcome<unknown>>

interface Next {
  readonly at: string
  command(send: Send): Promise<Message<SubscriptionCommands>>
}

function nextOf(id: string, state: Subscription): Next | undefined {
  if (state.status === 'none' || state.status === 'canceled') return undefined
  const { status, arrears, period, cancelAtPeriodEnd } = state
  const unpaidAt = unpaidFrom(status, arrears)
  if (unpaidAt !== null && unpaidAt < period.end)
    return { at: unpaidAt, command: async () => ({ type: 'MarkUnpaid', data: {} }) }
  if (status === 'unpaid' && !cancelAtPeriodEnd) return undefined
  // A first period that is awaited passes unserved before it is canceled.
  const { end } = status === 'unpaid' ? shownPeriod(state) : period
  return { at: end, command: (send) => renewal(id, state, send) }
}

async function renewal(
  id: string,
  state: ExistingSubscription,
  send: Send,
): Promise<Message<SubscriptionCommands>> {
  const usage = await closedUsage(id, state, send)
  return { type: 'RenewSubscription', data: { number: state.period.number, usage } }
}

/** What was used in the period that is over: it is closed first, so that it is billed once. */
async function closedUsage(
  id: string,
  { items, period: { number: period } }: ExistingSubscription,
  send: Send,
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
