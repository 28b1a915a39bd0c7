import t from 'tap'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { endOf, periodAt, scheduleOf, type Timing } from '../../packages/domain/subscriptions/periods.ts'
import { subscription } from '../../packages/domain/subscriptions/subscription.ts'
import { toolsOf } from '../../services/processes/runner/main.ts'
import { subscriptionProcess } from '../../services/processes/subscriptions.ts'
import { envelope, openLog } from '../support/event-store/shared-log.ts'

const monthly: Timing = {
  start: '2028-01-31T08:00:00.000Z',
  end: null,
  trialDays: null,
  interval: 'month',
  timeZone: 'Africa/Abidjan',
}

/** The ends of the first periods. */
function endsOf(timing: Timing, count: number): readonly string[] {
  const { recurrence, first } = scheduleOf(timing)
  const ends = [first.end]
  while (ends.length < count) ends.push(endOf(recurrence, ends.at(-1)!))
  return ends
}

const daysOf = (timing: Timing, count: number) => endsOf(timing, count).map((end) => end.slice(0, 10))

t.test('a month after the 31st of January is its last day, in leap years too', async (t) => {
  const days = ['2028-02-29', '2028-03-31', '2028-04-30', '2028-05-31']
  t.strictSame(daysOf(monthly, 4), days)
  const next = { ...monthly, start: '2027-01-31T08:00:00.000Z' }
  t.strictSame(daysOf(next, 3), ['2027-02-28', '2027-03-31', '2027-04-30'])
})

t.test('a year from the 29th of February keeps its day', async (t) => {
  const yearly: Timing = { ...monthly, interval: 'year', start: '2028-02-29T08:00:00.000Z' }
  t.strictSame(daysOf(yearly, 4), ['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29'])
})

t.test('days, weeks and quarters are counted alike', async (t) => {
  t.strictSame(daysOf({ ...monthly, interval: 'day' }, 2), ['2028-02-01', '2028-02-02'])
  t.strictSame(daysOf({ ...monthly, interval: 'week' }, 2), ['2028-02-07', '2028-02-14'])
  t.strictSame(daysOf({ ...monthly, interval: 'quarter' }, 2), ['2028-04-30', '2028-07-31'])
})

t.test('periods end at the same local time, also where clocks are changed', async (t) => {
  const paris = { ...monthly, timeZone: 'Europe/Paris', start: '2027-02-28T23:30:00.000Z' }
  t.strictSame(endsOf(paris, 2), ['2027-03-31T22:30:00.000Z', '2027-04-30T22:30:00.000Z'])
})

t.test('days of a trial come first, and the first period that is paid for follows them', async (t) => {
  const { first, trialEnd } = scheduleOf({ ...monthly, trialDays: 14 })
  t.equal(trialEnd, '2028-02-14T08:00:00.000Z')
  t.strictSame(first, { start: trialEnd, end: '2028-03-14T08:00:00.000Z' })
})

t.test('where the end of the first period is given, the others follow from it', async (t) => {
  const given = { ...monthly, end: '2028-02-10T00:00:00.000Z' }
  t.strictSame(daysOf(given, 3), ['2028-02-10', '2028-03-10', '2028-04-10'])
})

t.test('the period of a time is found from an earlier one', async (t) => {
  const { recurrence, first } = scheduleOf(monthly)
  t.strictSame(periodAt(recurrence, first.end, '2028-05-01T00:00:00.000Z'), {
    start: '2028-04-30T08:00:00.000Z',
    end: '2028-05-31T08:00:00.000Z',
  })
  t.equal(periodAt(recurrence, first.end, first.end).start, first.end)
})

t.test('a subscription whose periods have ended is read once, however many are made up', async (t) => {
  const { store, process } = openLog()
  const [id, plan, customer] = ['a1', 'd1', 'c1'].map((end) => `0190a1b2-0000-7000-8000-0000000000${end}`)
  const item = { plan: plan!, name: 'Solar kit', quantity: 1, unitAmount: 5_000, meters: {} }
  // The log's clock stands at the 5th of January 2026.
  const timing: Timing = { ...monthly, start: '2025-11-01T08:00:00.000Z' }
  const terms = { customer: customer!, currency: 'XOF', items: [item], timing, metadata: {} }
  const data = {
    ...terms,
    cancelAtPeriodEnd: false,
    invoicing: { pages: 'https://pay.example/invoice', seed: plan! },
  }
  await process().send(subscription, id!, { type: 'StartSubscription', data }, { ...envelope, isNew: true })
  const read = store.readStream.bind(store)
  const reads: string[] = []
  store.readStream = (stream, ...rest) => {
    reads.push(stream)
    return read(stream, ...rest)
  }
  const clock = () => new Date('2026-01-05T08:00:00.000Z')
  const dependencies = { executor: process(), clock, newId: () => plan! } as unknown as Dependencies
  const { merchant, livemode } = envelope
  const dueAt = '2025-12-01T08:00:00.000Z'
  const due = {
    merchant,
    livemode,
    id: `due:${id}`,
    kind: 'subscription_period',
    subject: id!,
    dueAt,
    attempts: 0,
  }
  await subscriptionProcess.timers!['subscription_period']!(due, toolsOf(dependencies))
  t.strictSame(reads, [`subscription-${id}`])
  const types = (await read(`subscription-${id}`, 0)).map(({ type }) => type)
  t.strictSame(types, ['SubscriptionStarted', 'SubscriptionRenewed', 'SubscriptionRenewed'])
})

const kinds = ['subscription_period', 'subscription_unpaid'] as const
const happened: Readonly<Record<string, readonly string[]>> = {
  '2025-11-21T08:00:00.000Z': ['SubscriptionBecameUnpaid'],
  '2025-12-21T08:00:00.000Z': ['SubscriptionRenewed', 'SubscriptionBecameUnpaid'],
  '2026-01-21T08:00:00.000Z': ['SubscriptionRenewed', 'SubscriptionRenewed'],
}

t.test('what came due comes in the order of its time, whichever timer runs first', async (t) => {
  for (const [unpaidAt, types] of Object.entries(happened)) {
    for (const kind of kinds) {
      const { store, process } = openLog()
      const [id, plan, customer, invoice] = ['a1', 'd1', 'c1', 'e1'].map(
        (end) => `0190a1b2-0000-7000-8000-0000000000${end}`,
      )
      const item = { plan: plan!, name: 'Solar kit', quantity: 1, unitAmount: 5_000, meters: {} }
      const timing: Timing = { ...monthly, start: '2025-11-01T08:00:00.000Z' }
      const terms = { customer: customer!, currency: 'XOF', items: [item], timing, metadata: {} }
      const invoicing = { pages: 'https://pay.example/invoice', seed: plan! }
      const data = { ...terms, cancelAtPeriodEnd: false, invoicing }
      const executor = process()
      const send = (command: Parameters<typeof executor.send>[2]) =>
        executor.send(subscription, id!, command as never, envelope)
      await send({ type: 'StartSubscription', data })
      await send({ type: 'MarkPastDue', data: { invoice: invoice!, unpaidAt } })
      const clock = () => new Date('2026-01-05T08:00:00.000Z')
      const dependencies = { executor, clock, newId: () => plan! } as unknown as Dependencies
      const { merchant, livemode } = envelope
      const timer = {
        merchant,
        livemode,
        id: `${kind}:${id}`,
        kind,
        subject: id!,
        dueAt: unpaidAt,
        attempts: 0,
      }
      await subscriptionProcess.timers![kind]!(timer, toolsOf(dependencies))
      const events = await store.readStream(`subscription-${id}`, 2)
      t.strictSame(
        events.map(({ type }) => type),
        types,
        `${kind}, unpaid at ${unpaidAt}`,
      )
    }
  }
})
