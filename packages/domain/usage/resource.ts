import { publicId } from '../../contract/identity.ts'
import {
  base,
  Identity,
  maybe,
  nullable,
  record,
  Timestamp,
  Type,
  unixSeconds,
  type Static,
} from '../../contract/vocabulary.ts'
import { MeterKey, Quantity, type UsageRecord } from './usage-record.ts'

/** Spec, billing. What is left out there is required by rule. */
export const UsageRequest = record({
  subscriptionId: maybe({ ...Identity, description: 'Required: whose use it is' }),
  meterKey: maybe({ ...MeterKey, description: 'Required: what was used, as the plan names it' }),
  quantity: maybe(Quantity),
  occurredAt: maybe({ ...Timestamp, description: 'When it was used; left out, now' }),
  externalId: maybe(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Your own id: what has the same one is counted once',
      examples: ['message-1042'],
    }),
  ),
  idempotencyKey: maybe(Type.String({ minLength: 1, maxLength: 64, description: 'The same as the header' })),
})

export const UsageRecordResource = record({
  ...base('usage_record', 'ur'),
  subscription: Type.String({ description: 'Whose use it is' }),
  meter_key: Type.String({ description: 'What was used' }),
  quantity: { ...Quantity, description: 'How much was used' },
  occurred_at: Timestamp,
  external_id: nullable(Type.String({ description: 'Your own id' })),
})

export type UsageRecordView = Static<typeof UsageRecordResource>

export function viewUsageRecord(id: string, state: UsageRecord): UsageRecordView | undefined {
  if (state.status === 'none') return undefined
  return {
    id: publicId('ur', id),
    object: 'usage_record',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    subscription: publicId('sub', state.subscription),
    meter_key: state.meterKey,
    quantity: state.quantity,
    occurred_at: state.occurredAt,
    external_id: state.externalId,
  }
}
