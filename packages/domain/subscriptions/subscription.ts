import { begun, existing } from '../../contract/existing.ts'
import { derivedId } from '../../contract/identity.ts'
import { givenMetadata } from '../../contract/metadata.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Decider, Message } from '../../kernel/decider.ts'
import { subscriptionEvents, type Bill, type Item, type SubscriptionEvents } from './events.ts'
import { endOf, periodAt, scheduleOf, type Period, type Timing } from './periods.ts'
import {
  billOf,
  metersOf,
  renewsAtEnd,
  shownPeriod,
  unpaidFrom,
  type ExistingSubscription,
  type Subscription,
  type Usage,
} from './state.ts'

type Started = SubscriptionEvents['SubscriptionStarted']
type Happening = Message<SubscriptionEvents>

export type SubscriptionCommands = {
  StartSubscription: Pick<
    Started,
    'customer' | 'currency' | 'cancelAtPeriodEnd' | 'metadata' | 'invoicing'
  > & {
    items: readonly Omit<Item, 'id'>[]
    timing: Timing
  }
  /** The period of this number is over; `usage` is what was metered in it. */
  RenewSubscription: { number: number; usage: Usage }
  /** `usage` is that of the period of this number, where the sender has closed it. */
  CancelSubscription: { atPeriodEnd: boolean; reason: string | null; usage: Usage; number: number | null }
  MarkPastDue: { invoice: string; unpaidAt: string }
  /** The invoice is paid, void or written off. */
  SettleArrears: { invoice: string }
  MarkUnpaid: object
  /** See `UsageMeterEnded`. */
  BillUse: { meterKey: string; quantity: number; ending: number }
}

export const subscription: Decider<Subscription, SubscriptionCommands, SubscriptionEvents> = {
  category: 'subscription',
  events: subscriptionEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    StartSubscription({ items, timing, ...given }, { status }, { id, now }) {
      if (status !== 'none') return []
      const schedule = scheduleOf(timing)
      const started = {
        ...given,
        ...schedule,
        metadata: givenMetadata(given.metadata),
        items: items.map((item, index) => ({ id: derivedId(id, `item ${index + 1}`), ...item })),
      }
      const isBegun = schedule.first.start <= now.toISOString()
      const first = { number: 1, span: schedule.first, usage: {}, isRenewed: true }
      const bill = isBegun ? billOf(started, first) : null
      return [{ type: 'SubscriptionStarted', data: { bill, ...started } }]
    },

    RenewSubscription({ number, usage }, state, { now }) {
      const current = begun(state)
      const { period, status, cancelAtPeriodEnd } = current
      if (status === 'canceled' || period.number !== number || !isOver(period, now)) return []
      if (renewsAtEnd(current))
        return [{ type: 'SubscriptionRenewed', data: { bill: nextBill(current, usage) } }]
      return cancelAtPeriodEnd && isOver(shownPeriod(current), now) ? [canceled(current, null, usage)] : []
    },

    CancelSubscription({ atPeriodEnd, reason, usage, number }, state, { now }) {
      const current = existing(state)
      const { status, customer, cancelAtPeriodEnd, period } = current
      if (!atPeriodEnd && status === 'canceled') return []
      // What is paid for does not depend on how soon it is renewed.
      if (renewsAtEnd(current) && isOver(period, now))
        refuse('resource_must_not_have_changed', { detail: beingRenewed, retryAfterSeconds: 1 })
      // Renewed meanwhile: that use is billed already.
      if (!atPeriodEnd && number !== null && number !== period.number)
        refuse('resource_must_not_have_changed')
      if (!atPeriodEnd) return [canceled(current, reason, usage)]
      if (status === 'canceled' || status === 'unpaid') {
        const detail = `A subscription that is ${status} has no next period`
        refuse('subscription_must_be_running', { detail })
      }
      return cancelAtPeriodEnd ? [] : [{ type: 'SubscriptionCancelScheduled', data: { customer, reason } }]
    },

    MarkPastDue({ invoice, unpaidAt }, state) {
      const { status, arrears } = begun(state)
      if (status === 'canceled' || arrears.some((one) => one.invoice === invoice)) return []
      const data = { invoice, unpaidAt, unpaidFrom: unpaidFrom(status, [...arrears, { unpaidAt }]) }
      return [{ type: arrears.length === 0 ? 'SubscriptionBecamePastDue' : 'SubscriptionOwedMore', data }]
    },

    SettleArrears({ invoice }, state, { now }) {
      const { status, arrears, period } = begun(state)
      if (status === 'canceled' || !arrears.some((one) => one.invoice === invoice)) return []
      const left = arrears.filter((one) => one.invoice !== invoice)
      if (left.length > 0)
        return [{ type: 'SubscriptionOwedLess', data: { invoice, unpaidFrom: unpaidFrom(status, left) } }]
      const renewsAt = [period.end, now.toISOString()].toSorted().at(-1)!
      return [{ type: 'SubscriptionRecovered', data: { invoice, renewsAt } }]
    },

    MarkUnpaid(_, state, { now }) {
      const current = begun(state)
      const { status, arrears, cancelAtPeriodEnd } = current
      const from = unpaidFrom(status, arrears)
      if (status !== 'past_due' || from === null || from > now.toISOString()) return []
      const cancelsAt = cancelAtPeriodEnd ? shownPeriod(current).end : null
      return [{ type: 'SubscriptionBecameUnpaid', data: { cancelsAt } }]
    },

    BillUse({ quantity, ...ended }, state) {
      const current = begun(state)
      const { late, period } = current
      if (late === null || late.billed.includes(endingOf(ended))) return []
      const bill = usageBill(current, late.number + 1, { [ended.meterKey]: quantity })
      // Inferred: what was used before the first period that is paid for is free.
      return period.number === 0 || bill === null
        ? []
        : [{ type: 'SubscriptionUseBilled', data: { ...ended, bill } }]
    },
  },

  evolve: {
    SubscriptionStarted: (_, { bill, ...started }, { livemode, at }) => {
      const { first } = started
      const period = bill ? { number: 1, ...first } : { number: 0, start: at, end: first.start }
      const nothingYet = { arrears: [], pausedUntil: null, canceledAt: null, late: null }
      const status = bill ? 'active' : 'trialing'
      return { livemode, createdAt: at, status, period, ...nothingYet, ...started }
    },
    SubscriptionRenewed: (state, { bill: { number, start, end } }) => {
      const current = begun(state)
      const status = current.status === 'trialing' ? 'active' : current.status
      return { ...current, status, period: { number, start, end }, pausedUntil: null }
    },
    SubscriptionBecamePastDue: (state, owed) => owing(state, owed, 'past_due'),
    SubscriptionOwedMore: (state, owed) => owing(state, owed, begun(state).status),
    SubscriptionOwedLess: (state, { invoice }) => without(state, invoice),
    SubscriptionRecovered: (state, { invoice }, { at }) => {
      const { status, period } = begun(state)
      const wasPaused = status === 'unpaid' && period.end < at
      const waits = period.number === 0 && period.end > at
      const pausedUntil = wasPaused ? at : null
      return { ...without(state, invoice), status: waits ? 'trialing' : 'active', pausedUntil }
    },
    SubscriptionBecameUnpaid: (state) => ({ ...begun(state), status: 'unpaid' }),
    SubscriptionCancelScheduled: (state) => ({ ...begun(state), cancelAtPeriodEnd: true }),
    SubscriptionCanceled: (state, _, { at }) => {
      const current = begun(state)
      const late = { number: current.period.number + 1, billed: [] }
      return { ...current, status: 'canceled', canceledAt: at, late }
    },
    SubscriptionUseBilled: (state, { bill, ...ended }) => {
      const current = begun(state)
      const billed = [...(current.late?.billed ?? []), endingOf(ended)]
      return { ...current, late: { number: bill.number, billed } }
    },
  },
}

/** Inferred: what was used before the first period that is paid for is free. */
function nextBill(current: ExistingSubscription, usage: Usage): Bill {
  const { recurrence, period, first, pausedUntil } = current
  const number = period.number + 1
  const next = number === 1 ? first : { start: period.end, end: endOf(recurrence, period.end) }
  const isPassed = pausedUntil !== null && next.end <= pausedUntil
  const span = isPassed ? periodAt(recurrence, next.end, pausedUntil) : next
  return billOf(current, { number, span, usage: number === 1 ? {} : usage, isRenewed: true })
}

const beingRenewed = 'Its period has ended, and it is about to be renewed: try again in a moment'

function isOver({ end }: Period, now: Date): boolean {
  return end <= now.toISOString()
}

function canceled(current: ExistingSubscription, reason: string | null, usage: Usage): Happening {
  const { customer, items, period } = current
  const bill = usageBill(current, period.number + 1, period.number === 0 ? {} : usage)
  const meters = Object.keys(metersOf(items))
  return { type: 'SubscriptionCanceled', data: { customer, reason, bill, meters } }
}

/** Null where there is nothing to pay. */
function usageBill(current: ExistingSubscription, number: number, usage: Usage): Bill | null {
  const { number: _, ...span } = current.period
  const bill = billOf(current, { number, span, usage, isRenewed: false })
  return bill.lines.length > 0 ? bill : null
}

function endingOf({
  meterKey,
  ending,
}: Pick<SubscriptionCommands['BillUse'], 'meterKey' | 'ending'>): string {
  return `${meterKey} ${ending}`
}

function owing(
  state: Subscription,
  { invoice, unpaidAt }: SubscriptionEvents['SubscriptionOwedMore'],
  status: ExistingSubscription['status'],
): ExistingSubscription {
  const current = begun(state)
  return { ...current, status, arrears: [...current.arrears, { invoice, unpaidAt }] }
}

function without(state: Subscription, invoice: string): ExistingSubscription {
  const current = begun(state)
  return { ...current, arrears: current.arrears.filter((one) => one.invoice !== invoice) }
}
