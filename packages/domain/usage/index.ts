import type { Family } from '../../contract/family.ts'
import { usagePolicies } from './policies.ts'
import { usageMeter } from './usage-meter.ts'
import { usageRecord } from './usage-record.ts'

/** Metered use of subscriptions. */
export const usage: Family = {
  name: 'usage',
  ids: { usage_record: 'ur' },
  streams: [usageRecord, usageMeter],
  policies: usagePolicies,
}
