import { usageRecord } from '../packages/domain/usage/usage-record.ts'
import { documents } from '../packages/kernel/projection.ts'

export const usageRecords = documents(usageRecord, {
  name: 'usage_records',
  version: 1,
  columns: { subscriptionId: 'text', meterKey: 'text', occurred_at: 'timestamptz' },
  row: (state) => {
    if (state.status === 'none') return undefined
    const { subscription, meterKey, occurredAt } = state
    return { subscriptionId: subscription, meterKey, occurred_at: occurredAt }
  },
  indexes: [['subscriptionId', 'created']],
})
