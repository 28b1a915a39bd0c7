import t from 'tap'
import {
  duePayoutRun,
  duePayoutRuns,
  nextPayoutRun,
  scheduleFrom,
} from '../../packages/domain/payouts/schedule.ts'
import {
  payoutSettings,
  payoutSettingsEvents,
  type PayoutSettingsCommands,
  type PayoutSettingsEvents,
} from '../../packages/domain/payouts/settings.ts'
import { decide, evolve, type Message } from '../../packages/kernel/decider.ts'
import { upcast } from '../../packages/kernel/event-types.ts'
import { runsBetween } from '../../packages/kernel/time/recurrence.ts'
import { revised, type Revised } from '../support/payments/payouts.ts'
import { fc } from '../support/properties.ts'
import { context, fold, scenarios, stampOf } from '../support/scenarios.ts'

const at = context.now.toISOString()
const owner = { merchant: context.merchant, livemode: false }
const one = '0190a1b2-0000-7000-8000-0000000000d1'

t.test('scheduled payouts leave at six in the morning, weekly on Monday, monthly on the first', async (t) => {
  const first = (...[frequency, time]: [Revised['frequency'], string]) =>
    scheduleFrom(frequency, new Date(time))?.anchor
  t.equal(first('daily', '2026-01-01T05:59:59Z'), '2026-01-01T06:00:00.000Z')
  t.equal(first('daily', '2026-01-01T06:00:00Z'), '2026-01-02T06:00:00.000Z')
  t.equal(first('weekly', '2026-01-01T12:00:00Z'), '2026-01-05T06:00:00.000Z')
  t.equal(first('monthly', '2026-01-01T12:00:00Z'), '2026-02-01T06:00:00.000Z')
  t.equal(first('manual', '2026-01-01T12:00:00Z'), undefined)
})

const daily = scheduleFrom('daily', context.now)
const dailyFromTheSecond = revised({ frequency: 'daily', recurrence: daily, nextRunAt: daily!.anchor })
const later = (day: string) => ({ now: new Date(`2026-01-${day}T12:00:00.000Z`) })
const run = (day: string) => `2026-01-${day}T06:00:00.000Z`
const noted = (day: string, next: string | null): Message<PayoutSettingsEvents> => ({
  type: 'ScheduledPayoutRun',
  data: { dueAt: run(day), payout: one, skipped: null, nextRunAt: next },
})

scenarios(payoutSettings, {
  'another setting leaves a run that is overdue where it is': {
    given: [revised({ frequency: 'daily', recurrence: daily, nextRunAt: run('02') })],
    when: { type: 'RevisePayoutSettings', data: { minimumBalance: 500 } },
    then: [
      revised({
        frequency: 'daily',
        minimumBalance: 500,
        recurrence: daily,
        nextRunAt: run('02'),
      }),
    ],
    context: later('03'),
  },
  'another frequency still owes what was due before it': {
    given: [dailyFromTheSecond],
    when: { type: 'RevisePayoutSettings', data: { frequency: 'monthly' } },
    then: [
      revised({
        frequency: 'monthly',
        recurrence: scheduleFrom('monthly', later('03').now),
        overdue: [run('02'), run('03')],
        nextRunAt: run('02'),
      }),
    ],
    context: later('03'),
  },
  'who turns the schedule off is paid no more': {
    given: [dailyFromTheSecond],
    when: { type: 'RevisePayoutSettings', data: { frequency: 'manual' } },
    then: [revised({})],
    context: later('03'),
  },
  'a run is noted once, and the next one follows from it, however late it was': {
    given: [dailyFromTheSecond],
    when: { type: 'NoteScheduledRun', data: { dueAt: run('02'), payout: one } },
    then: [noted('02', run('03'))],
    context: later('09'),
  },
  'a run that is not due is not noted': {
    given: [dailyFromTheSecond, noted('02', run('03'))],
    when: { type: 'NoteScheduledRun', data: { dueAt: run('03'), payout: one } },
    then: [],
    context: later('02'),
  },
})

t.test('settings of the first format go on with the newest run that was due', async (t) => {
  const { merchant, livemode } = owner
  const first = { merchant, livemode, frequency: 'daily', keepMinimumBalance: true, minimumBalance: 9 }
  const stored = { ...first, defaultDestination: one, at }
  const data = upcast(payoutSettingsEvents.PayoutSettingsRevised, 1, stored) as Revised
  const settings = fold(payoutSettings, [{ type: 'PayoutSettingsRevised', data }])
  t.match(settings, { minimumBalance: 9, minimumBalanceCurrency: null, defaultDestination: one })
  t.equal(data.nextRunAt, run('02'))
  t.strictSame(duePayoutRuns(settings, later('05').now), [run('05')])
  const after = fold(payoutSettings, [{ type: 'PayoutSettingsRevised', data }, noted('05', run('06'))])
  t.equal(nextPayoutRun(after), run('06'))
  t.strictSame(duePayoutRuns(after, later('07').now), [run('06'), run('07')])
})

t.test('whenever settings change and runs are made, each run comes once and in order', async () => {
  const change = fc.constantFrom('daily' as const, 'weekly' as const, 'monthly' as const)
  const step = fc.record({
    hours: fc.integer({ min: 1, max: 40 * 24 }),
    change: fc.option(change),
    runs: fc.nat(3),
  })
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
    let state = payoutSettings.initial()
    let now = context.now
    const made: string[] = []
    const owed: string[] = []
    const send = (command: Message<PayoutSettingsCommands>) => {
      for (const event of decide(payoutSettings, command, state, { ...context, now }))
        state = evolve(payoutSettings, state, event, stampOf({ ...context, now }))
    }
    const makeOne = () => {
      const dueAt = duePayoutRun(state, now)
      if (dueAt === undefined) return false
      made.push(dueAt)
      send({ type: 'NoteScheduledRun', data: { dueAt, payout: one } })
      return true
    }
    for (const { hours, change: frequency, runs } of steps) {
      const before = now
      now = new Date(now.getTime() + hours * 3_600_000)
      if (state.recurrence)
        owed.push(...[...runsBetween(state.recurrence, before, now)].map((each) => each.toISOString()))
      if (frequency) send({ type: 'RevisePayoutSettings', data: { frequency } })
      for (let left = runs; left > 0 && makeOne(); left--);
    }
    while (makeOne());
    return JSON.stringify(made) === JSON.stringify(owed)
  })
  fc.assert(property, { numRuns: 300 })
})
