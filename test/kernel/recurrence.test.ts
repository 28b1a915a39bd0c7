import t from 'tap'
import { nextRun, runsBetween, type Recurrence } from '../../packages/kernel/time/recurrence.ts'
import { fc } from '../support/properties.ts'

const monthly: Recurrence = {
  anchor: '2026-01-31T06:00:00.000Z',
  unit: 'month',
  every: 1,
  count: null,
  timeZone: 'UTC',
}

const yearMs = 366 * 86_400_000

function firstRuns(recurrence: Recurrence, wanted: number): readonly string[] {
  const runs: string[] = []
  for (let run = nextRun(recurrence); run && runs.length < wanted; run = nextRun(recurrence, run))
    runs.push(run.toISOString())
  return runs
}

t.test('the last day of a month is kept', async (t) => {
  t.strictSame(
    firstRuns(monthly, 5).map((run) => run.slice(0, 10)),
    ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'],
  )
})

t.test('29 February comes back in leap years, and is the 28th in others', async (t) => {
  const yearly = { ...monthly, anchor: '2024-02-29T06:00:00.000Z', unit: 'year' } as const
  t.strictSame(
    firstRuns(yearly, 5).map((run) => run.slice(0, 10)),
    ['2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29'],
  )
})

t.test('the wall clock of the time zone is kept when its offset changes', async (t) => {
  const daily = {
    ...monthly,
    anchor: '2026-03-28T05:00:00.000Z',
    unit: 'day',
    timeZone: 'Europe/Paris',
  } as const
  t.strictSame(firstRuns(daily, 3), [
    '2026-03-28T05:00:00.000Z',
    '2026-03-29T04:00:00.000Z',
    '2026-03-30T04:00:00.000Z',
  ])
})

t.test('a time that clocks skip moves behind the gap; one that they show twice runs once', async (t) => {
  const inParis = { ...monthly, unit: 'day', timeZone: 'Europe/Paris' } as const
  t.strictSame(firstRuns({ ...inParis, anchor: '2026-03-28T01:30:00.000Z' }, 3), [
    '2026-03-28T01:30:00.000Z',
    '2026-03-29T01:30:00.000Z',
    '2026-03-30T00:30:00.000Z',
  ])
  t.strictSame(firstRuns({ ...inParis, anchor: '2026-10-24T00:30:00.000Z' }, 3), [
    '2026-10-24T00:30:00.000Z',
    '2026-10-25T00:30:00.000Z',
    '2026-10-26T01:30:00.000Z',
  ])
})

t.test('after as many runs as it has there are no more', async (t) => {
  t.equal(firstRuns({ ...monthly, count: 3 }, 10).length, 3)
  t.equal(nextRun({ ...monthly, count: 0 }), undefined)
})

t.test('before the anchor the anchor is next', async (t) => {
  t.equal(nextRun(monthly, new Date('2020-01-01T00:00:00Z'))?.toISOString(), monthly.anchor)
})

const zones = ['UTC', 'Africa/Dakar', 'Africa/Casablanca', 'Africa/Cairo', 'Europe/Paris', 'Asia/Kathmandu']
const recurrences = fc.record({
  anchor: fc
    .date({
      min: new Date('2019-06-01T00:00:00Z'),
      max: new Date('2029-01-01T00:00:00Z'),
      noInvalidDate: true,
    })
    .map((date) => date.toISOString()),
  unit: fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'year' as const),
  every: fc.integer({ min: 1, max: 5 }),
  count: fc.option(fc.integer({ min: 1, max: 40 })),
  timeZone: fc.constantFrom(...zones),
})

t.test('any chopping of time gives the same runs, each once and in order', async () => {
  const property = fc.property(
    recurrences,
    fc.array(fc.integer({ min: 0, max: 2 * yearMs }), { maxLength: 20 }),
    (recurrence, cuts) => {
      const start = new Date(Date.parse(recurrence.anchor) - 1)
      const end = new Date(start.getTime() + 2 * yearMs)
      const bounds = [...cuts.sort((a, b) => a - b).map((cut) => new Date(start.getTime() + cut)), end]
      const chopped: Date[] = []
      let from = start
      for (const until of bounds) {
        chopped.push(...runsBetween(recurrence, from, until))
        from = until
      }
      const whole = [...runsBetween(recurrence, start, end)]
      const isSame = JSON.stringify(chopped) === JSON.stringify(whole)
      return isSame && whole.length > 0 && whole.every((run, index) => index === 0 || run > whole[index - 1]!)
    },
  )
  fc.assert(property, { numRuns: 300 })
})

t.test('every run shows the wall clock of the anchor, but where the zone skips it', async () => {
  const property = fc.property(recurrences, (recurrence) => {
    const shown = new Intl.DateTimeFormat('en-GB', { timeZone: recurrence.timeZone, timeStyle: 'medium' })
    const first = shown.format(new Date(recurrence.anchor))
    const until = new Date(Date.parse(recurrence.anchor) + 2 * yearMs)
    const others = [...runsBetween(recurrence, undefined, until)].filter((run) => shown.format(run) !== first)
    // A zone moves its clocks forward at most twice in a year, and once more around a leap of its rules.
    return others.length <= 6
  })
  fc.assert(property, { numRuns: 200 })
})

t.test(
  'a run never falls on an earlier day of the month than its anchor or the end of the month',
  async () => {
    const property = fc.property(
      recurrences.filter(({ unit }) => unit === 'month'),
      (recurrence) => {
        const dayOf = (date: Date) => {
          const shown = new Intl.DateTimeFormat('en-CA', { timeZone: recurrence.timeZone }).format(date)
          const [year, month, day] = shown.split('-').map(Number)
          return { day: day!, last: new Date(Date.UTC(year!, month!, 0)).getUTCDate() }
        }
        const { day: wanted } = dayOf(new Date(recurrence.anchor))
        const until = new Date(Date.parse(recurrence.anchor) + 3 * yearMs)
        return [...runsBetween(recurrence, undefined, until)].every((run) => {
          const { day, last } = dayOf(run)
          return day === Math.min(wanted, last)
        })
      },
    )
    fc.assert(property, { numRuns: 200 })
  },
)
