import type { Family } from '../../contract/family.ts'
import { plan } from './plan.ts'

/** Prices of subscriptions. */
export const plans: Family = {
  name: 'plans',
  ids: { plan: 'plan' },
  scopes: ['billing.read', 'billing.write'],
  streams: [plan],
}
