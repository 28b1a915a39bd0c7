import { plan } from '../packages/domain/plans/plan.ts'
import { documents } from '../packages/kernel/projection.ts'

export const plans = documents(plan, {
  name: 'plans',
  version: 1,
  columns: { currency: 'text', interval: 'text' },
})
