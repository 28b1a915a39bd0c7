import t from 'tap'
import { subscription } from '../../packages/domain/subscriptions/subscription.ts'
import {
  february,
  march,
  april,
  at,
  bill,
  started,
  trialEnd,
  onTrial,
  awaited,
  recovered,
  scheduled,
  canceled,
  pastDue,
  unpaid,
  cancel,
  renew,
} from '../support/commerce/subscription-samples.ts'
import { fold, scenarios } from '../support/scenarios.ts'

scenarios(subscription, {
  'what is canceled while it waits to begin runs once': {
    given: [awaited, scheduled],
    when: renew(0),
    context: at(february),
    then: [{ type: 'SubscriptionRenewed', data: { bill: bill(1, [february, march]) } }],
  },
  'a trial ends instead of being followed by a period': {
    given: [onTrial, scheduled],
    when: renew(0),
    context: at(trialEnd),
    then: [canceled],
  },
  'what is about to be renewed is renewed before it is canceled': {
    given: [started],
    when: cancel(false),
    context: at(february),
    then: 'resource_must_not_have_changed',
  },
  'also where it is to end later': {
    given: [started],
    when: cancel(true),
    context: at(february),
    then: 'resource_must_not_have_changed',
  },
  'what is not renewed any more is canceled at any time': {
    given: [started, pastDue, unpaid],
    when: cancel(false),
    context: at(march),
    then: [canceled],
  },
  'recovered from being unpaid, it goes on with the period of that day': {
    given: [started, pastDue, { ...unpaid, at: march }, recovered('2026-03-09T00:00:00.000Z')],
    when: renew(1),
    context: at('2026-03-09T00:00:00.000Z'),
    then: [{ type: 'SubscriptionRenewed', data: { bill: bill(2, [march, april]) } }],
  },
  'what waits to begin and runs once is not over while its period is': {
    given: [awaited, scheduled, pastDue, unpaid],
    when: renew(0),
    context: at(february),
    then: [],
  },
  'unpaid, it is canceled when that period has passed': {
    given: [awaited, scheduled, pastDue, unpaid],
    when: renew(0),
    context: at(march),
    then: [canceled],
  },
  'and it says so when it becomes unpaid': {
    given: [awaited, scheduled, pastDue],
    when: { type: 'MarkUnpaid', data: {} },
    context: at(march),
    then: [{ type: 'SubscriptionBecameUnpaid', data: { cancelsAt: march } }],
  },
  'paid while its period lasts, it has that one': {
    given: [awaited, scheduled, pastDue, unpaid, recovered('2026-02-09T00:00:00.000Z')],
    when: renew(0),
    context: at('2026-02-09T00:00:00.000Z'),
    then: [{ type: 'SubscriptionRenewed', data: { bill: bill(1, [february, march]) } }],
  },
  'paid when that period has passed, it has none': {
    given: [awaited, scheduled, pastDue, unpaid, recovered('2026-03-09T00:00:00.000Z')],
    when: renew(0),
    context: at('2026-03-09T00:00:00.000Z'),
    then: [canceled],
  },
  'also where no period had begun yet': {
    given: [awaited, pastDue, unpaid, recovered('2026-03-09T00:00:00.000Z')],
    when: renew(0),
    context: at('2026-03-09T00:00:00.000Z'),
    then: [{ type: 'SubscriptionRenewed', data: { bill: bill(1, [march, april]) } }],
  },
})

t.test('a trial goes on when nothing is overdue any more', async (t) => {
  const during = fold(subscription, [onTrial, pastDue, recovered('2026-01-10T00:00:00.000Z')])
  t.match(during, { status: 'trialing', arrears: [] })
  t.match(fold(subscription, [onTrial, pastDue, recovered(march)]), { status: 'active' })
})
