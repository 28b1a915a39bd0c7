import { subscription } from '../../packages/domain/subscriptions/subscription.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import type { Process, Tools } from './process.ts'

export const subscriptionProcess: Process = {
  timers: { subscription_period: renew, subscription_unpaid: markUnpaid },
}

/** Missed periods are made up, one after the other: each is renewed, and billed, once. */
async function renew({ subject: id, merchant, livemode }: DueTimer, tools: Tools): Promise<undefined> {
  const { store, clock } = tools.dependencies
  for (;;) {
    const state = await readState(store, subscription, id)
    const now = clock().toISOString()
    if (state.status === 'none' || state.status === 'canceled' || state.period.end > now) return undefined
    const { number } = state.period
    const order = to(subscription, id, { type: 'RenewSubscription', data: { number, usage: {} } })
    const { appended } = await tools.send(order, { merchant, livemode }, 'timer')
    if (appended === 0) return undefined
  }
}

async function markUnpaid({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<undefined> {
  const order = to(subscription, subject, { type: 'MarkUnpaid', data: {} })
  await tools.send(order, { merchant, livemode }, 'timer')
}
