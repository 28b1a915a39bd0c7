import type pg from 'pg'
import t, { type Test } from 'tap'
import { v7 } from 'uuid'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { PostgresTimers } from '../../infra/postgres/timers.ts'
import { ownedBy, ownerText, type Owner } from '../../packages/kernel/owner.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import type { MovedClock } from '../../packages/kernel/time/moved-clocks.ts'
import { timers as timersModel } from '../../projections/timers.ts'
import { runDue, runTimers, type TimerRunnerOptions } from '../../services/processes/runner/due-timers.ts'
import { HangingLanes } from '../../services/processes/runner/hanging-lanes.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

const noon = Date.parse('2026-03-01T12:00:00Z')
const at = (seconds: number) => new Date(noon + seconds * 1_000)
const merchant = v7()
/** Lanes go on with the first look after what held them up has ended. */
const usual = { patienceMs: 100, goOnEveryMs: 0 }

/** A runner of timers of two kinds, of which `ask` waits until the operator answers. */
async function openRunner(t: Test, pace = usual) {
  const { pool } = await testDatabase(t)
  await publishMissing(pool, [timersModel], '')
  let now = at(10)
  let ahead: readonly MovedClock[] = []
  const answers: (() => void)[] = []
  const run: string[] = []
  const ask = async ({ id }: DueTimer<Owner>) => {
    run.push(id)
    if (id === 'ask:heard') return undefined
    await new Promise<void>((resolve) => answers.push(resolve))
    return undefined
  }
  const renew = async ({ id }: DueTimer<Owner>) => {
    run.push(id)
    await pool.query('delete from read.timers where id = $1', [id])
    return undefined
  }
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  // The runner asks nothing else of its tools.
  const tools = {
    dependencies: {
      clock: (owner?: object) => (owner && ahead[0]?.now) ?? now,
      movedClocks: { ahead: () => ahead, follow: async () => undefined },
      executor: {},
      store: { head: async () => 1 },
      reads: { reached: async () => true },
    },
  } as unknown as TimerRunnerOptions['tools']
  const timers = new PostgresTimers(pool)
  const hanging = new HangingLanes(pace)
  const processes = [{ timers: { ask, renew } }]
  const assertHeld = () => undefined
  const options = { processes, timers, tools, log, hanging }
  const answer = async () => {
    for (const resolve of answers.splice(0)) resolve()
    await hanging.settled()
  }
  t.teardown(answer)
  const setTime = (seconds: number) => void (now = at(seconds))
  const moveClock = (seconds: number) => void (ahead = [{ merchant, now: at(seconds) }])
  const lookAt = (seconds: number) => {
    setTime(seconds)
    return runDue({ ...options, assertHeld })
  }
  return { pool, run, lookAt, answer, hanging, options, assertHeld, setTime, moveClock }
}

/** As the projector writes them; due at noon if nothing else is said. */
const set = (pool: pg.Pool, kind: string, subjects: readonly string[], due = 0) =>
  setFor(merchant, { pool, kind, subjects, due })

interface Timers {
  readonly pool: pg.Pool
  readonly kind: string
  readonly subjects: readonly string[]
  readonly due: number
}

async function setFor(owner: string, { pool, kind, subjects, due }: Timers): Promise<void> {
  const text = `
    insert into read.timers (id, kind, subject, merchant, livemode, due_at)
    select $1 || ':' || subject, $1, subject, $2, false, $3 from unnest($4::text[]) as subject`
  await pool.query(text, [kind, owner, at(due), subjects])
}

const attemptsOf = async (pool: pg.Pool, id: string) =>
  (await pool.query('select attempts, again_at from timer_attempts where id = $1', [id])).rows

t.test('a timer that an operator leaves without an answer holds up its own subject alone', async (t) => {
  const { pool, run, lookAt, answer } = await openRunner(t)
  await set(pool, 'ask', ['silent'])
  await set(pool, 'renew', ['silent', 'other'])
  await lookAt(10)
  t.strictSame(run.toSorted(), ['ask:silent', 'renew:other'])
  await set(pool, 'renew', ['later'])
  await lookAt(11)
  t.strictSame(run.toSorted(), ['ask:silent', 'renew:later', 'renew:other'])
  await lookAt(600)
  t.strictSame(run.length, 3, 'nor is it begun again before it has ended')
  await answer()
  t.match(await attemptsOf(pool, 'ask:silent'), [{ attempts: 1, again_at: at(605).toISOString() }])
  await lookAt(1_000)
  await answer()
  await lookAt(1_001)
  t.strictSame(run.slice(3), ['ask:silent', 'renew:silent'], 'then all of its own come')
})

t.test('what waits behind a timer that hangs goes on in its order, and has not been tried', async (t) => {
  const { pool, run, lookAt, answer } = await openRunner(t)
  await set(pool, 'ask', ['one'], 0)
  await set(pool, 'renew', ['one.2'], 2)
  await lookAt(2)
  await set(pool, 'renew', ['one.3'], 3)
  for (const seconds of [3, 19, 40]) await lookAt(seconds)
  t.strictSame(run, ['ask:one'])
  t.strictSame((await pool.query('select id from timer_attempts')).rows, [])
  await answer()
  await lookAt(41)
  t.strictSame(run, ['ask:one', 'renew:one.2', 'renew:one.3'])
})

t.test('of a merchant whose clock is ahead all wait for what hangs, and then run in order', async (t) => {
  const { pool, run, lookAt, answer, moveClock } = await openRunner(t)
  await set(pool, 'ask', ['one'], 100)
  for (const due of [200, 300, 400]) await set(pool, 'renew', [`later ${due}`], due)
  moveClock(350)
  for (const seconds of [10, 11]) await lookAt(seconds)
  moveClock(450)
  for (const seconds of [12, 30, 31]) await lookAt(seconds)
  t.strictSame(run, ['ask:one'])
  await answer()
  for (const seconds of [32, 33, 34]) await lookAt(seconds)
  t.strictSame(run.slice(1), ['renew:later 200', 'renew:later 300', 'renew:later 400'])
})

t.test('lanes go on together, at most so often, and not before a look begins', async (t) => {
  const { pool, run, lookAt, answer, hanging } = await openRunner(t, { ...usual, goOnEveryMs: 3_600_000 })
  await set(pool, 'ask', ['one', 'two'])
  await lookAt(10)
  await answer()
  await set(pool, 'renew', ['one.2'], 11)
  const { heldUp } = hanging.waiting(new Set())
  t.strictSame(heldUp.subjects, [], 'what has ended by the first time goes on')
  await lookAt(11)
  t.strictSame(run.slice(2), ['renew:one.2'])
  await lookAt(20)
  t.equal(run.length, 5, 'both are asked again')
  await answer()
  t.equal(hanging.busySince, Infinity)
  t.strictSame(hanging.waiting(new Set()).heldUp.subjects.toSorted(), ['one', 'two'])
})

t.test(
  'who waits for a silent operator keeps no other of the same kind waiting, and begins only so many',
  async (t) => {
    const { pool, run, lookAt, answer, hanging } = await openRunner(t)
    const silent = Array.from({ length: 2_500 }, (_, n) => `silent ${n}`)
    await set(pool, 'ask', silent)
    await set(pool, 'renew', ['other'])
    await setFor(v7(), { pool, kind: 'ask', subjects: ['heard'], due: 5 })
    const asked = () => run.filter((id) => id.startsWith('ask:silent')).length
    await lookAt(10)
    const first = asked()
    t.ok(first < 200, `${first} of ${silent.length} were asked`)
    t.match(hanging.waiting(new Set()).heldUp.kindsOf, [{ kind: 'ask', owner: { merchant } }])
    await lookAt(11)
    t.ok(run.includes('renew:other') && run.includes('ask:heard'))
    t.equal(asked(), first)
    await answer()
    t.strictSame(hanging.waiting(new Set()).heldUp.kindsOf, [])
    await lookAt(12)
    t.equal(asked() - first, 64, 'fewer at once than when nobody knew that they would wait')
    await answer()
    for (let seconds = 13; asked() < silent.length; seconds += 0.01) {
      await lookAt(seconds)
      await answer()
    }
    t.equal(new Set(run).size, silent.length + 2, 'all of them come')
  },
)

t.test('a kind of which too many wait goes on with the others', async (t) => {
  const { pool, run, lookAt, answer, hanging } = await openRunner(t)
  for (let one = 0; one < 20; one++) {
    const subjects = Array.from({ length: 100 }, (_, n) => `silent ${one} ${n}`)
    await setFor(v7(), { pool, kind: 'ask', subjects, due: 0 })
  }
  await setFor(v7(), { pool, kind: 'ask', subjects: ['late'], due: 20 })
  for (let seconds = 10; seconds < 22; seconds += 1) await lookAt(seconds)
  const asked = run.length
  t.ok(asked >= 1_024 && asked < 1_024 + 128, `${asked} were asked`)
  t.strictSame(hanging.waiting(new Set()).except, ['ask'])
  await set(pool, 'renew', ['other'], 22)
  await lookAt(22)
  t.strictSame(run.slice(asked), ['renew:other'])
  await answer()
  t.strictSame(hanging.waiting(new Set()).except, [])
})

t.test('an owner of whom one timer hung a moment ago has all of the others run in one look', async (t) => {
  const { pool, run, lookAt, hanging } = await openRunner(t, { patienceMs: 60_000, goOnEveryMs: 0 })
  const subjects = Array.from({ length: 200 }, (_, n) => `one ${n}`)
  const hung = { merchant, livemode: false, kind: 'renew', subject: 'x', dueAt: '', attempts: 1 }
  hanging.leave({ ...hung, id: 'renew:x' }, Promise.resolve())
  await set(pool, 'renew', subjects)
  await lookAt(1)
  t.equal(run.length, 200)
})

t.test('a kind is left out of one owner alone, whatever kind of owner that is', async (t) => {
  const { pool } = await openRunner(t)
  const [organization, user] = [v7(), v7()]
  const owners: readonly Owner[] = [
    { merchant, livemode: false },
    { merchant, livemode: true },
    { organization },
    { user },
    { platform: true },
  ]
  for (const [n, owner] of owners.entries()) {
    const { merchant = null, livemode = null, organization = null, user = null } = ownedBy(owner)
    const text = `insert into read.timers (id, kind, subject, merchant, livemode, organization, "user", due_at)
      values ('ask:' || $1, 'ask', $1, $2, $3, $4, $5, $6)`
    await pool.query(text, [String(n), merchant, livemode, organization, user, at(0)])
  }
  for (const owner of owners) {
    const heldUp = { subjects: [], merchants: [], kindsOf: [{ kind: 'ask', owner }] }
    const due = await new PostgresTimers(pool).due(at(1), 9, { heldUp })
    t.strictSame(
      due.map(ownerText).toSorted(),
      owners
        .filter((one) => one !== owner)
        .map(ownerText)
        .toSorted(),
    )
  }
})

t.test('what was tried in vain comes after what is due for the first time', async (t) => {
  const { pool, run, lookAt } = await openRunner(t)
  const failed = Array.from({ length: 3 }, (_, n) => `failed ${n}`)
  await set(pool, 'renew', [...failed, 'new'])
  await pool.query(
    `insert into timer_attempts select id, due_at, 1, due_at from read.timers where subject <> 'new'`,
  )
  await lookAt(10)
  t.equal(run[0], 'renew:new')
  t.equal(run.length, 4)
})

t.test('shares are not given back, nor does a runner end, while one of its timers hangs', async (t) => {
  const { pool, run, answer, hanging, options, assertHeld, setTime } = await openRunner(t)
  await set(pool, 'ask', ['silent'])
  let busySince: number | undefined
  const balance = async (asked: { readonly busySince?: number } = {}) => void (busySince = asked.busySince)
  const stop = new AbortController()
  let isOver = false
  const running = runTimers(options, { balance, held: [0], assertHeld }, stop.signal)
  const ended = running.then(() => void (isOver = true))
  const asked = async () => busySince
  await eventually(asked, (since) => since !== undefined && since < performance.now())
  await answer()
  await eventually(asked, (since) => since === Infinity)
  setTime(100)
  await eventually(
    async () => hanging.busySince,
    (since) => since < Infinity,
  )
  stop.abort()
  t.equal(await Promise.race([ended.then(() => true), lookedAgain(pool)]), false)
  t.notOk(isOver)
  await answer()
  await ended
  t.strictSame(run, ['ask:silent', 'ask:silent'])
})

const lookedAgain = async (pool: pg.Pool) =>
  (await pool.query<{ is: boolean }>('select false as is')).rows[0]!.is
