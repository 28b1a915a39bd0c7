import { StoredRecurrence } from '../../contract/recurrence.ts'
import {
  CountMinor,
  Currency,
  Metadata,
  nullable,
  record,
  Timestamp,
  Type,
  Uuid,
} from '../../contract/vocabulary.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'

/** What a plan costs, as it was agreed when the subscription began. */
export const Item = record({
  id: Uuid,
  plan: Uuid,
  name: nullable(Type.String()),
  quantity: Type.Integer({ minimum: 1 }),
  unitAmount: CountMinor,
  /** Prices of metered use, by meter; empty where it is not billed. */
  meters: Type.Unsafe<Readonly<Record<string, number>>>({
    type: 'object',
    additionalProperties: { type: 'integer' },
  }),
})

const Period = record({ start: Timestamp, end: Timestamp })

/** What is to be invoiced for a period: all that an invoice needs to know. */
export const Bill = record({
  /** Of the period, from 1: there is one invoice for each. */
  number: Type.Integer({ minimum: 1 }),
  ...Period.properties,
  customer: Uuid,
  currency: Currency,
  timeZone: Type.String(),
  lines: Type.Array(
    record({ description: nullable(Type.String()), quantity: Type.Integer(), amount: CountMinor }),
  ),
  /** The URL below which invoices are, and what makes this one's address unguessable. */
  pages: Type.String(),
  secret: Uuid,
})

/** When what is overdue makes it unpaid; null where it is that already. */
const next = { unpaidFrom: nullable(Timestamp) }
const owed = { invoice: Uuid, unpaidAt: Timestamp, ...next }
const whose = { customer: Uuid }

export const subscriptionEvents = {
  SubscriptionStarted: sealedFor(
    customerOf,
    stored(
      1,
      record({
        ...whose,
        currency: Currency,
        items: Type.Array(Item, { minItems: 1 }),
        recurrence: StoredRecurrence,
        /** The first period that is paid for; before it comes a trial, or nothing. */
        first: Period,
        trialEnd: nullable(Timestamp),
        cancelAtPeriodEnd: Type.Boolean(),
        metadata: personal(Metadata),
        /** See `Bill`: each invoice's secret follows from this one. */
        invoicing: record({ pages: Type.String(), seed: Uuid }),
        /** Null as long as no period has begun that is paid for. */
        bill: nullable(Bill),
      }),
    ),
  ),
  /** The period that is billed has begun. */
  SubscriptionRenewed: stored(1, record({ bill: Bill })),
  SubscriptionBecamePastDue: stored(1, record(owed)),
  /** Inferred: another invoice is overdue too. */
  SubscriptionOwedMore: stored(1, record(owed)),
  /** Inferred: one of several overdue invoices no longer is. */
  SubscriptionOwedLess: stored(1, record({ invoice: Uuid, ...next })),
  /** Nothing is overdue any more. */
  SubscriptionRecovered: stored(1, record({ invoice: Uuid, renewsAt: Timestamp })),
  /** It is not renewed any more; at `cancelsAt` it ends, where that was asked for. */
  SubscriptionBecameUnpaid: stored(1, record({ cancelsAt: nullable(Timestamp) })),
  SubscriptionCancelScheduled: sealedFor(
    customerOf,
    stored(1, record({ ...whose, reason: personal(nullable(Type.String())) })),
  ),
  /**
   * `bill`: the metered use of the last period; null where there is nothing to pay. `meters` may have counted
   * more meanwhile.
   */
  SubscriptionCanceled: sealedFor(
    customerOf,
    stored(
      2,
      record({
        ...whose,
        reason: personal(nullable(Type.String())),
        bill: nullable(Bill),
        meters: Type.Array(Type.String()),
      }),
      { 1: (data) => ({ ...data, meters: [] }) },
    ),
  ),
  /** Use that was counted when the last period was billed already: see `UsageMeterEnded`. */
  SubscriptionUseBilled: stored(
    1,
    record({ meterKey: Type.String(), ending: Type.Integer({ minimum: 1 }), bill: Bill }),
  ),
}

function customerOf({ customer }: { readonly customer: string }): string {
  return `customer/${customer}`
}

export type SubscriptionEvents = EventsOf<typeof subscriptionEvents>
export type Item = SubscriptionEvents['SubscriptionStarted']['items'][number]
export type Bill = SubscriptionEvents['SubscriptionRenewed']['bill']
