import t from 'tap'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { NotYetError } from '../../services/composition/observing/failures.ts'
import { runDue, type TimerRunnerOptions } from '../../services/processes/runner/due-timers.ts'
import { FailingTimers } from '../../services/processes/runner/failing-timers.ts'

const noon = new Date('2026-03-01T12:00:00Z')
const owner = { merchant: '0190a1b2-0000-7000-8000-00000000000a', livemode: true }
const passing = new NotYetError('the operator is away')
const minuteMs = 60_000

function timerOf(subject: string, livemode = true): DueTimer {
  const id = `test:${subject}`
  return { ...owner, livemode, id, kind: 'test', subject, dueAt: noon.toISOString(), attempts: 0 }
}

interface Told {
  readonly timer?: string
  readonly failing?: number
  readonly failingMs?: number
}

/** A runner of one timer whose work does as it is told, with a clock that the test moves. */
function runner() {
  const told: Told[] = []
  let nowMs = 0
  let isAway = true
  const log = { info: () => undefined, error: () => undefined, warn: (what: object) => void told.push(what) }
  const failing = new FailingTimers(log, () => nowMs)
  const delays: number[] = []
  const postpone = async (_: unknown, until: Date) => void delays.push(until.getTime() - noon.getTime())
  const timers = { due: async () => [timerOf('one')], postpone, asHeldNow: () => ({ postpone }) }
  const work = async () => {
    if (isAway) throw passing
    return undefined
  }
  // The runner asks nothing else of its tools.
  const tools = {
    dependencies: { clock: () => noon, movedClocks: { ahead: () => [] } },
  } as unknown as TimerRunnerOptions['tools']
  const options = { processes: [{ timers: { test: work } }], timers, tools, log, failing }
  const runAt = async (timeMs: number) => {
    nowMs = timeMs
    await runDue({ ...options, assertHeld: () => undefined })
    return delays.at(-1)
  }
  const comeBack = () => void (isAway = false)
  return { runAt, told, failing, comeBack }
}

t.test('a timer that fails in passing for long is told of, and tried ever less often', async (t) => {
  const { runAt, told, failing } = runner()
  t.equal(await runAt(0), 2_000)
  t.equal(await runAt(4_000), 2_000)
  t.strictSame(told, [], 'what may pass at once is no news')
  t.equal(await runAt(2 * minuteMs), minuteMs / 2)
  t.match(told, [{ timer: 'test:one', failingMs: 2 * minuteMs, failing: 1, error: passing }])
  for (let minutes = 5; minutes < 180; minutes += 5) await runAt(minutes * minuteMs)
  t.equal(await runAt(180 * minuteMs), 5 * minuteMs, 'but every five minutes at last')
  t.strictSame(failing.longestSeconds, { live: 180 * 60, sandbox: 0 })
})

t.test('a timer that works again is forgotten', async (t) => {
  const { runAt, told, failing, comeBack } = runner()
  await runAt(0)
  await runAt(2 * minuteMs)
  comeBack()
  await runAt(3 * minuteMs)
  t.strictSame(failing.longestSeconds, { live: 0, sandbox: 0 })
  t.equal(told.length, 1)
})

t.test('many that fail are told of once a minute, and what nobody tries any more is not', async (t) => {
  const told: Told[] = []
  const log = { info: () => undefined, error: () => undefined, warn: (what: object) => void told.push(what) }
  let nowMs = 0
  const failing = new FailingTimers(log, () => nowMs)
  const all = Array.from({ length: 50 }, (_, number) => timerOf(String(number), number > 0))
  for (nowMs = 0; nowMs <= 3 * minuteMs; nowMs += 10_000)
    for (const timer of all) failing.failed(timer, passing)
  t.strictSame(
    told.map(({ failing: count }) => count),
    [50, 50, 50],
  )
  t.match(failing.longestSeconds, { live: 190, sandbox: 190 })
  nowMs += 11 * minuteMs
  t.strictSame(failing.longestSeconds, { live: 0, sandbox: 0 })
})

t.test(
  'where so many fail that not all are remembered, all the same they are tried ever less often',
  async (t) => {
    const log = { info: () => undefined, error: () => undefined, warn: () => undefined }
    const failing = new FailingTimers(log, () => 0)
    for (let one = 0; one < 10_000; one++) failing.failed(timerOf(String(one)), passing)
    const delays = [0, 1, 5, 20].map((attempts) =>
      failing.failed({ ...timerOf('another'), attempts }, passing),
    )
    t.strictSame(delays, [2_000, 4_000, 64_000, 5 * minuteMs])
  },
)

t.test(
  'what nobody tries any more takes no place of what fails now, and is news when it fails again',
  (t) => {
    const told: Told[] = []
    const log = {
      info: () => undefined,
      error: () => undefined,
      warn: (what: object) => void told.push(what),
    }
    let nowMs = 0
    const failing = new FailingTimers(log, () => nowMs)
    const failedAt = (timeMs: number, subject: string) => {
      nowMs = timeMs
      return failing.failed(timerOf(subject), passing)
    }
    for (let one = 0; one < 10_000; one++) failedAt(0, String(one))
    const later = 60 * minuteMs
    t.equal(failedAt(later, '0'), 2_000, 'it begins anew')
    for (const minutes of [0, 1, 2]) failedAt(later + minutes * minuteMs, 'another')
    t.match(told, [{ timer: 'test:another', failingMs: minuteMs, failing: 2 }, { failingMs: 2 * minuteMs }])
    t.end()
  },
)
