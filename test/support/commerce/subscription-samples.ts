import { derivedId } from '../../../packages/contract/identity.ts'
import type { Bill, SubscriptionEvents } from '../../../packages/domain/subscriptions/events.ts'
import type { SubscriptionCommands } from '../../../packages/domain/subscriptions/subscription.ts'
import type { Message } from '../../../packages/kernel/decider.ts'
import { context } from '../scenarios.ts'

/** A solar kit of 10,000 XOF a month, from 1 January, and what may happen to its subscription. */

type Happening = Message<SubscriptionEvents>

const customer = '0190a1b2-0000-7000-8000-0000000000c1'
const plan = '0190a1b2-0000-7000-8000-0000000000d1'
export const [one, two] = ['0190a1b2-0000-7000-8000-0000000000e1', '0190a1b2-0000-7000-8000-0000000000e2']
const invoicing = {
  pages: 'https://pay.example/invoice',
  seed: '0190a1b2-0000-8000-8000-0000000000f1',
}
const now = context.now.toISOString()
export const [january, february, march] = [now, '2026-02-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z']
export const april = '2026-04-01T12:00:00.000Z'
export const at = (time: string) => ({ now: new Date(time) })

const item = { plan, name: 'Solar kit', quantity: 2, unitAmount: 5_000, meters: { sms: 25 } }
export const timing = {
  start: january,
  end: null,
  trialDays: null,
  interval: 'month',
  timeZone: 'UTC',
} as const
export const start: SubscriptionCommands['StartSubscription'] = {
  customer,
  currency: 'XOF',
  items: [item],
  timing,
  cancelAtPeriodEnd: false,
  metadata: {},
  invoicing,
}

export const recurring = { description: 'Solar kit', quantity: 2, amount: 10_000 }

export function bill(
  number: number,
  [start, end]: readonly [string, string],
  lines: Bill['lines'] = [recurring],
): Bill {
  const terms = { customer, currency: 'XOF', timeZone: 'UTC', pages: invoicing.pages }
  return { number, start, end, ...terms, lines, secret: derivedId(invoicing.seed, `invoice ${number}`) }
}

const { timing: _, ...terms } = start
export const started: Message<Pick<SubscriptionEvents, 'SubscriptionStarted'>> = {
  type: 'SubscriptionStarted',
  data: {
    ...terms,
    items: [{ id: derivedId(context.id, 'item 1'), ...item }],
    recurrence: { anchor: january, unit: 'month', every: 1, count: null, timeZone: 'UTC' },
    first: { start: january, end: february },
    trialEnd: null,
    bill: bill(1, [january, february]),
  },
}
export const trialEnd = '2026-01-15T12:00:00.000Z'
export const onTrial: Happening = {
  type: 'SubscriptionStarted',
  data: {
    ...started.data,
    recurrence: { ...started.data.recurrence, anchor: trialEnd },
    first: { start: trialEnd, end: '2026-02-15T12:00:00.000Z' },
    trialEnd,
    bill: null,
  },
}
export const awaited: Happening = {
  type: 'SubscriptionStarted',
  data: { ...started.data, first: { start: february, end: march }, bill: null },
}
export const recovered = (at: string): Happening & { at: string } => {
  return { type: 'SubscriptionRecovered', data: { invoice: one, renewsAt: at }, at }
}
export const renewed: Happening = { type: 'SubscriptionRenewed', data: { bill: bill(2, [february, march]) } }
export const scheduled: Happening = { type: 'SubscriptionCancelScheduled', data: { customer, reason: null } }
export const sms = (number: number, quantity: number): Bill =>
  bill(number, [january, february], [{ description: 'sms', quantity, amount: quantity * 25 }])
export const canceledWith = (last: Bill | null, meters = ['sms']): Happening => {
  return { type: 'SubscriptionCanceled', data: { customer, reason: null, bill: last, meters } }
}
export const canceled = canceledWith(null)
export const billUse = (ending: number, quantity = 3, meterKey = 'sms') =>
  ({ type: 'BillUse', data: { meterKey, ending, quantity } }) as const
export const useBilled = (ending: number, late: Bill): Happening => {
  return { type: 'SubscriptionUseBilled', data: { meterKey: 'sms', ending, bill: late } }
}
export const owes = (invoice: string, unpaidAt: string) => ({ invoice, unpaidAt, unpaidFrom: unpaidAt })
export const pastDue: Happening = { type: 'SubscriptionBecamePastDue', data: owes(one, march) }
export const unpaid: Happening = { type: 'SubscriptionBecameUnpaid', data: { cancelsAt: null } }

export const cancel = (atPeriodEnd: boolean, usage = {}, number: number | null = null) =>
  ({ type: 'CancelSubscription', data: { atPeriodEnd, reason: null, usage, number } }) as const
export const renew = (number: number, usage = {}) =>
  ({ type: 'RenewSubscription', data: { number, usage } }) as const
