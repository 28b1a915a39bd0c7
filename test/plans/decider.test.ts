import t from 'tap'
import { metersOf, plan, type PlanEvents } from '../../packages/domain/plans/plan.ts'
import { scenarios } from '../support/scenarios.ts'

const monthly: PlanEvents['PlanCreated'] = {
  name: 'Solar kit',
  currency: 'XOF',
  recurring_amount: 5_000,
  interval: 'month',
  usage_based_enabled: true,
  metadata: '{"meters":{"sms":25}}',
}

scenarios(plan, {
  'a plan is what it was created with': {
    when: { type: 'CreatePlan', data: monthly },
    then: [{ type: 'PlanCreated', data: monthly }],
  },
  'any text is metadata': {
    when: { type: 'CreatePlan', data: { ...monthly, metadata: '{"meters":' } },
    then: [{ type: 'PlanCreated', data: { ...monthly, metadata: '{"meters":' } }],
  },
  'a price of a meter is a whole number': {
    when: { type: 'CreatePlan', data: { ...monthly, metadata: '{"meters":{"sms":2.5}}' } },
    then: 'request_must_be_valid',
  },
  'a price of a meter is not below zero': {
    when: { type: 'CreatePlan', data: { ...monthly, metadata: '{"meters":{"sms":-1}}' } },
    then: 'request_must_be_valid',
  },
})

t.test('prices of meters are read from metadata, where it is about them', async (t) => {
  t.strictSame(metersOf(monthly.metadata), { sms: 25 })
  for (const other of [null, 'red', '7', 'null', '[]', '{"meters":[1]}', '{"shelf":"3"}'])
    t.strictSame(metersOf(other), {}, String(other))
})
