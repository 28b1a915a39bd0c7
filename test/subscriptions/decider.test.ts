import t from 'tap'
import type { Bill } from '../../packages/domain/subscriptions/events.ts'
import { subscription } from '../../packages/domain/subscriptions/subscription.ts'
import {
  one,
  two,
  february,
  march,
  april,
  at,
  start,
  timing,
  owes,
  recurring,
  bill,
  started,
  trialEnd,
  onTrial,
  renewed,
  scheduled,
  sms,
  canceledWith,
  canceled,
  billUse,
  useBilled,
  pastDue,
  unpaid,
  cancel,
  renew,
} from '../support/commerce/subscription-samples.ts'
import { context, fold, scenarios } from '../support/scenarios.ts'

scenarios(subscription, {
  'a subscription that begins now is billed for its first period': {
    when: { type: 'StartSubscription', data: start },
    then: [started],
  },
  'nothing is billed for a trial': {
    when: { type: 'StartSubscription', data: { ...start, timing: { ...timing, trialDays: 14 } } },
    then: [onTrial],
  },
  'the first period that is paid for follows a trial, whose use is free': {
    given: [onTrial],
    when: renew(0, { sms: 4 }),
    context: at(trialEnd),
    then: [{ type: 'SubscriptionRenewed', data: { bill: bill(1, [trialEnd, '2026-02-15T12:00:00.000Z']) } }],
  },
  'a period that has not ended is not renewed': { given: [started], when: renew(1), then: [] },
  'a period that has ended is followed by the next one': {
    given: [started],
    when: renew(1),
    context: at(february),
    then: [renewed],
  },
  'a timer that fires late renews the period that it was for, from its end': {
    given: [started],
    when: renew(1),
    context: at('2026-02-20T00:00:00.000Z'),
    then: [renewed],
  },
  'a timer that fires again for a period that was renewed does nothing': {
    given: [started, renewed],
    when: renew(1),
    context: at(april),
    then: [],
  },
  'metered use of the ended period is billed with the next one': {
    given: [started],
    when: renew(1, { sms: 4, unknown: 9 }),
    context: at(february),
    then: [
      {
        type: 'SubscriptionRenewed',
        data: {
          bill: bill(2, [february, march], [recurring, { description: 'sms', quantity: 4, amount: 100 }]),
        },
      },
    ],
  },
  'canceled at its period end, it runs until then': {
    given: [started],
    when: cancel(true),
    then: [scheduled],
  },
  'then it ends instead of being renewed': {
    given: [started, scheduled],
    when: renew(1),
    context: at(february),
    then: [canceled],
  },
  'canceled now, it ends at once': { given: [started], when: cancel(false), then: [canceled] },
  'what was used until the end is billed': {
    given: [started],
    when: cancel(false, { sms: 2 }),
    then: [canceledWith(sms(2, 2))],
  },
  'what was counted when it had ended is billed by itself': {
    given: [started, canceledWith(sms(2, 2))],
    when: billUse(1),
    then: [useBilled(1, sms(3, 3))],
  },
  'what is counted even later is billed again': {
    given: [started, canceled, useBilled(1, sms(3, 3))],
    when: billUse(2, 5),
    then: [useBilled(2, sms(4, 5))],
  },
  'late use is billed once': {
    given: [started, canceled, useBilled(1, sms(3, 3))],
    when: billUse(1),
    then: [],
  },
  'late use that costs nothing is not billed': {
    given: [started, canceled],
    when: billUse(1, 3, 'other'),
    then: [],
  },
  'nor is what was used before the first period': {
    given: [onTrial, canceled],
    when: billUse(1),
    then: [],
  },
  'what was used in a period that was renewed meanwhile is not billed twice': {
    given: [started, renewed],
    when: cancel(false, { sms: 2 }, 1),
    then: 'resource_must_not_have_changed',
  },
  'what has ended has no period end to be canceled at': {
    given: [started, canceled],
    when: cancel(true),
    then: 'subscription_must_be_running',
  },
  'an overdue invoice makes it past due': {
    given: [started],
    when: { type: 'MarkPastDue', data: { invoice: one, unpaidAt: march } },
    then: [pastDue],
  },
  'a second overdue invoice does not put off the day on which it is unpaid': {
    given: [started, pastDue],
    when: { type: 'MarkPastDue', data: { invoice: two, unpaidAt: april } },
    then: [{ type: 'SubscriptionOwedMore', data: { invoice: two, unpaidAt: april, unpaidFrom: march } }],
  },
  'past due, it is renewed': {
    given: [started, pastDue],
    when: renew(1),
    context: at(february),
    then: [renewed],
  },
  'while another invoice is overdue it does not recover': {
    given: [
      started,
      pastDue,
      { type: 'SubscriptionOwedMore', data: { ...owes(two, april), unpaidFrom: march } },
    ],
    when: { type: 'SettleArrears', data: { invoice: one } },
    then: [{ type: 'SubscriptionOwedLess', data: { invoice: one, unpaidFrom: april } }],
  },
  'when nothing is overdue any more it recovers': {
    given: [started, pastDue],
    when: { type: 'SettleArrears', data: { invoice: one } },
    then: [{ type: 'SubscriptionRecovered', data: { invoice: one, renewsAt: february } }],
  },
  'an invoice that was not overdue changes nothing': {
    given: [started],
    when: { type: 'SettleArrears', data: { invoice: one } },
    then: [],
  },
  'overdue for too long, it is unpaid': {
    given: [started, pastDue],
    when: { type: 'MarkUnpaid', data: {} },
    context: at(march),
    then: [unpaid],
  },
  'a timer that is too early does not make it unpaid': {
    given: [started, pastDue],
    when: { type: 'MarkUnpaid', data: {} },
    then: [],
  },
  'unpaid, it is not renewed': {
    given: [started, pastDue, unpaid],
    when: renew(1),
    context: at(march),
    then: [],
  },
  'unpaid, it cannot be canceled at an end that will not come': {
    given: [started, pastDue, unpaid],
    when: cancel(true),
    then: 'subscription_must_be_running',
  },
})

t.test('where two items have the same meter, the first one says what it costs', async (t) => {
  const items = [started.data.items[0]!, { ...started.data.items[0]!, meters: { sms: 90, calls: 5 } }]
  const state = fold(subscription, [{ ...started, data: { ...started.data, items } }])
  t.match(state, { status: 'active' })
  const [event] = subscription.decide.CancelSubscription(
    cancel(false, { sms: 1, calls: 1 }).data,
    state,
    context,
  )
  const lines = (event as { data: { bill: Bill } }).data.bill.lines
  t.strictSame(
    lines.map(({ amount }) => amount),
    [25, 5],
  )
})
