import { policy, to } from '../../kernel/policy.ts'
import type { SubscriptionEvents } from '../subscriptions/events.ts'
import { subscription } from '../subscriptions/subscription.ts'
import type { UsageRecordEvents } from './usage-record.ts'
import { meterId, usageMeter, type UsageMeterEvents } from './usage-meter.ts'

const metering = policy<UsageRecordEvents>('usage_metering', {
  UsageRecorded: ({ id: record, position, data: { subscription, meterKey, quantity, period } }) => {
    const count = { record, quantity, period, position }
    return [to(usageMeter, meterId(subscription, meterKey), { type: 'CountUsage', data: count })]
  },
})

/** Whoever has asked before it was canceled may be counted after that: nothing of it is lost. */
const endings = policy<SubscriptionEvents>('usage_endings', {
  SubscriptionCanceled: ({ id: subscription, data: { meters } }) =>
    meters.map((meterKey) => {
      const data = { subscription, meterKey }
      return to(usageMeter, meterId(subscription, meterKey), { type: 'EndMeter', data })
    }),
})

const rest = policy<UsageMeterEvents>('usage_rest', {
  UsageMeterEnded: ({ data: { subscription: id, ...used } }) =>
    used.quantity === 0 ? [] : [to(subscription, id, { type: 'BillUse', data: used })],
})

export const usagePolicies = [metering, endings, rest]
