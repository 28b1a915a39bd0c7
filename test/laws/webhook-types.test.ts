import t from 'tap'
import { matches, patternsOf } from '../../packages/contract/webhooks/webhook-types.ts'
import { webhookTypes } from '../../packages/domain/index.ts'
import { lawOver } from '../support/law.ts'

t.test('an endpoint gets events of a type, of a resource and of everything', async (t) => {
  t.ok(matches(['payout.paid'], 'payout.paid'))
  t.ok(matches(['refund.failed', 'payout.*'], 'payout.paid'))
  t.ok(matches(['*'], 'payout.paid'))
  t.notOk(matches(['payout.failed', 'payment_intent.*'], 'payout.paid'))
  t.notOk(matches(['payout.*'], 'payout_destination.created'), 'whose name only begins alike')
  t.notOk(matches([], 'payout.paid'))
})

t.test('every pattern that may be enabled matches some type', async (t) => {
  const types = Object.keys(webhookTypes)
  await lawOver(t, patternsOf(types), (pattern) =>
    t.ok(
      types.some((type) => matches([pattern], type)),
      pattern,
    ),
  )
})
