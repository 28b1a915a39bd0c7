import { policy, to } from '../../kernel/policy.ts'
import type { UsageRecordEvents } from './usage-record.ts'
import { meterId, usageMeter } from './usage-meter.ts'

const metering = policy<UsageRecordEvents>('usage_metering', {
  UsageRecorded: ({ id: record, position, data: { subscription, meterKey, quantity, period } }) => {
    const count = { record, quantity, period, position }
    return [to(usageMeter, meterId(subscription, meterKey), { type: 'CountUsage', data: count })]
  },
})

export const usagePolicies = [metering]
