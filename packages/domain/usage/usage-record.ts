import { nullable, record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'

export const Quantity = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description: 'How much was used; left out, one',
})
export const MeterKey = Type.String({
  pattern: '^[A-Za-z0-9_.-]{1,64}$',
  'x-expected': 'letters, digits, `_`, `.` or `-`, at most 64',
  description: 'The meter, as the metadata of the plan names it',
  examples: ['sms'],
})

// Events. One stream for each record: what has an external id of the merchant's has an id that follows from
// it, and is recorded once for ever.

export const usageRecordEvents = {
  UsageRecorded: sealedFor(
    ({ customer }) => `customer/${customer}`,
    stored(
      1,
      record({
        subscription: Uuid,
        customer: Uuid,
        meterKey: MeterKey,
        quantity: Quantity,
        occurredAt: Timestamp,
        externalId: personal(nullable(Type.String())),
        /** Number of the subscription's period in which it was used. */
        period: Type.Integer({ minimum: 0 }),
      }),
    ),
  ),
}

export type UsageRecordEvents = EventsOf<typeof usageRecordEvents>

// State

interface Details extends Readonly<UsageRecordEvents['UsageRecorded']> {
  readonly livemode: boolean
  readonly createdAt: string
}

export type UsageRecord = { readonly status: 'none' } | (Details & { readonly status: 'recorded' })

// Decisions

export type UsageRecordCommands = { RecordUsage: UsageRecordEvents['UsageRecorded'] }

export const usageRecord: Decider<UsageRecord, UsageRecordCommands, UsageRecordEvents> = {
  category: 'usage_record',
  perOperation: true,
  events: usageRecordEvents,
  initial: () => ({ status: 'none' }),
  decide: {
    RecordUsage: (used, { status }) => (status === 'none' ? [{ type: 'UsageRecorded', data: used }] : []),
  },
  evolve: {
    UsageRecorded: (_, used, { livemode, at }) => ({ ...used, livemode, createdAt: at, status: 'recorded' }),
  },
}
