import { derivedId } from '../../contract/identity.ts'
import type { Bill, Item, SubscriptionEvents } from './events.ts'
import type { Period } from './periods.ts'

type Started = SubscriptionEvents['SubscriptionStarted']

export interface ExistingSubscription extends Omit<Started, 'bill'> {
  readonly livemode: boolean
  readonly createdAt: string
  readonly status: 'trialing' | 'active' | 'past_due' | 'unpaid' | 'canceled'
  /** The current one; number 0 waits for the first period that is paid for. */
  readonly period: Period & { readonly number: number }
  /** Overdue invoices, and when each of them makes it unpaid. */
  readonly arrears: readonly { readonly invoice: string; readonly unpaidAt: string }[]
  /** Periods that have passed until then were not served, and are not billed. */
  readonly pausedUntil: string | null
  readonly canceledAt: string | null
  /** Number of the last bill after its end, and the endings of meters that were billed. */
  readonly late: { readonly number: number; readonly billed: readonly string[] } | null
}

export type Subscription = { readonly status: 'none' } | ExistingSubscription

/** Metered quantities of a period that has ended, by meter. */
export type Usage = Readonly<Record<string, number>>

type Billed = Pick<Started, 'customer' | 'currency' | 'items' | 'invoicing' | 'recurrence'>

interface Asked {
  readonly number: number
  readonly span: Period
  /** Of the period before. */
  readonly usage: Usage
  /** False: it has ended, and only its use is left to be paid. */
  readonly isRenewed: boolean
}

/** Recurring amounts of the period that begins, and metered use of the one that has ended. */
export function billOf(subscription: Billed, { number, span, usage, isRenewed }: Asked): Bill {
  const { customer, currency, items, invoicing, recurrence } = subscription
  const { pages, seed } = invoicing
  return {
    number,
    customer,
    currency,
    timeZone: recurrence.timeZone,
    lines: [...(isRenewed ? items.map(recurring) : []), ...metered(items, usage)],
    pages,
    secret: derivedId(seed, `invoice ${number}`),
    ...span,
  }
}

function recurring({ name, quantity, unitAmount }: Item): Bill['lines'][number] {
  return { description: name, quantity, amount: quantity * unitAmount }
}

function metered(items: readonly Item[], usage: Usage): Bill['lines'] {
  const prices = metersOf(items)
  return Object.entries(usage).flatMap(([meter, quantity]) => {
    const amount = quantity * (prices[meter] ?? 0)
    return amount > 0 ? [{ description: meter, quantity, amount }] : []
  })
}

/** Prices by meter; where two items have the same meter, the first one's. A meter may be `constructor`. */
export function metersOf(items: readonly Pick<Item, 'meters'>[]): Readonly<Record<string, number>> {
  const prices = items.toReversed().map(({ meters }) => meters)
  return Object.assign(Object.create(null), ...prices) as Record<string, number>
}

/** Inferred: about the most that one invoice asks for metered use. It keeps invoices countable. */
export const meteredMax = 1e15

/** How much of each meter one invoice bills; the rest is billed with the next one. */
export function billableOf(items: readonly Item[]): readonly (readonly [meter: string, most: number])[] {
  const prices = Object.entries(metersOf(items))
  const share = meteredMax / prices.length
  return prices.map(([meter, price]) => [meter, Math.max(1, Math.floor(share / Math.max(1, price)))])
}

/** Before its first period, where no trial runs until then: that period is awaited. */
export function isAwaited({ period, trialEnd }: Pick<ExistingSubscription, 'period' | 'trialEnd'>): boolean {
  return period.number === 0 && trialEnd === null
}

/** The period that is shown, and that invoices about it are for: the first one where it is awaited. */
export function shownPeriod(subscription: ExistingSubscription): Period {
  return isAwaited(subscription) ? subscription.first : subscription.period
}

/**
 * Whether another period follows this one. One that waits to begin has its first period still before it,
 * unless that has passed while it was unpaid.
 */
export function renewsAtEnd(subscription: ExistingSubscription): boolean {
  const { status, cancelAtPeriodEnd, first, pausedUntil } = subscription
  if (status === 'canceled' || status === 'unpaid') return false
  const isPassed = pausedUntil !== null && first.end <= pausedUntil
  return !cancelAtPeriodEnd || (isAwaited(subscription) && !isPassed)
}

/** When it becomes unpaid, if it does: the oldest of what is overdue decides. */
export function unpaidFrom(
  status: ExistingSubscription['status'],
  arrears: readonly { readonly unpaidAt: string }[],
): string | null {
  if (status === 'unpaid') return null
  return arrears.map(({ unpaidAt }) => unpaidAt).toSorted()[0] ?? null
}
