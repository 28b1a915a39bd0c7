import type pg from 'pg'
import t, { type Test } from 'tap'
import { v7 } from 'uuid'
import { PostgresTimers } from '../../infra/postgres/timers.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import type { Owner } from '../../packages/kernel/owner.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { readModels } from '../../projections/index.ts'
import { runDue, type TimerRunnerOptions } from '../../services/processes/runner/due-timers.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

const noon = Date.parse('2026-03-01T12:00:00Z')
const at = (seconds: number) => new Date(noon + seconds * 1_000)
const merchant = v7()
/** Others of a look end at once. */
const patienceMs = 5_000

async function openTimers(test: Test): Promise<{ pool: pg.Pool; timers: PostgresTimers }> {
  const { pool } = await testDatabase(test)
  await publishMissing(pool, readModels, '')
  return { pool, timers: new PostgresTimers(pool) }
}

/** As the projector writes them; times are seconds after noon. */
async function set(pool: pg.Pool, dueAt: Readonly<Record<string, number>>): Promise<void> {
  for (const [id, seconds] of Object.entries(dueAt)) {
    const text = `
      insert into read.timers (id, kind, subject, merchant, livemode, due_at) values ($1, 'test', $1, $2, false, $3)
      on conflict (id) do update set due_at = excluded.due_at`
    await pool.query(text, [id, merchant, at(seconds)])
  }
}

const idsOf = (timers: readonly DueTimer<Owner>[]) => timers.map(({ id }) => id)

async function postponeAll(
  timers: PostgresTimers,
  due: readonly DueTimer<Owner>[],
  seconds: number,
): Promise<void> {
  await Promise.all(due.map((timer) => timers.postpone(timer, at(seconds))))
}

t.test('what is due comes oldest first, and again when its time has come, until it is gone', async (t) => {
  const { pool, timers } = await openTimers(t)
  await set(pool, { late: 30, early: 10, middle: 20 })
  t.same(await timers.due(at(9), 10), [])
  const due = await timers.due(at(25), 10)
  t.match(due, [
    { id: 'early', kind: 'test', subject: 'early', merchant, livemode: false, attempts: 0 },
    { id: 'middle', attempts: 0 },
  ])
  await postponeAll(timers, due, 60)
  t.same(idsOf(await timers.due(at(30), 10)), ['late'], 'postponed ones wait')
  await pool.query("delete from read.timers where id = 'middle'")
  const again = await timers.due(at(60), 10)
  t.match(again, [
    { id: 'early', attempts: 1 },
    { id: 'late', attempts: 0 },
  ])
  await postponeAll(timers, again, 70)
  await pool.query("delete from read.timers where id = 'late'")
  t.match(await timers.due(at(70), 10), [{ id: 'early', attempts: 2 }])
  const { rows } = await pool.query('select id from timer_attempts')
  t.same(rows, [{ id: 'early' }], 'attempts of what is gone are forgotten')
})

t.test('a timer that is set anew has not been run', async (t) => {
  const { pool, timers } = await openTimers(t)
  await set(pool, { one: 10 })
  await postponeAll(timers, await timers.due(at(10), 10), 20)
  await set(pool, { one: 15 })
  const due = await timers.due(at(16), 10)
  t.match(due, [{ id: 'one', attempts: 0 }])
  await postponeAll(timers, due, 40)
  t.same(await timers.due(at(39), 10), [])
  t.match(await timers.due(at(40), 10), [{ id: 'one', attempts: 1 }])
  await set(pool, { one: 60 })
  t.same(await timers.due(at(41), 10), [], 'nor is it run when it would have been before')
})

t.test('when more is due than is asked for, then all of it comes, each once', async (t) => {
  const { pool, timers } = await openTimers(t)
  const names = Array.from({ length: 25 }, (_, index) => `timer ${index}`)
  await set(pool, Object.fromEntries(names.map((name, index) => [name, Math.floor(index / 10)])))
  const seen: string[] = []
  for (let look = 0; look < 4; look++) {
    const due = await timers.due(at(5), 8)
    seen.push(...idsOf(due))
    await postponeAll(timers, due, 100)
  }
  t.same(seen.sort(), names.sort())
  const again = [await timers.due(at(100), 25), await timers.due(at(100), 10)]
  t.same(
    again.map(({ length }) => length),
    [25, 10],
    'what was not postponed again is still due',
  )
})

t.test(
  'a timer that the read model shows long after it was due comes with the next look at all',
  async (t) => {
    const { pool, timers } = await openTimers(t)
    t.same(await timers.due(at(0), 10), [])
    await set(pool, { late: -20 })
    t.same(await timers.due(at(1), 10), [])
    const due = await timers.due(at(30), 10)
    t.same(idsOf(due), ['late'])
    await postponeAll(timers, due, 100)
    await set(pool, { later: -20 })
    t.same(await timers.due(at(31), 10), [], 'looks at all are rare')
    t.same(idsOf(await timers.due(at(10), 10)), ['later'], 'or when the clock was set back')
  },
)

t.test('what was postponed while the clock was ahead does not wait until then', async (t) => {
  const { pool, timers } = await openTimers(t)
  const yearS = 366 * 86_400
  await set(pool, { one: 0, other: 1 })
  await postponeAll(timers, await timers.due(at(yearS), 10), yearS + 30)
  t.same(idsOf(await timers.due(at(60), 10)), ['one', 'other'], 'the clock was set back')
  await postponeAll(timers, await timers.due(at(60), 10), 90)
  t.same(await timers.due(at(80), 10), [], 'what is postponed since then waits')
  await postponeAll(timers, await timers.due(at(yearS), 10), yearS + 30)
  const restarted = new PostgresTimers(pool)
  t.same(idsOf(await restarted.due(at(100), 10)), ['one', 'other'], 'or before a start')
})

t.test('what was handed out and not postponed comes with the next look', async (t) => {
  const { pool, timers } = await openTimers(t)
  await set(pool, { one: 0, other: 1 })
  const [one] = await timers.due(at(10), 10)
  await timers.postpone(one!, at(100))
  t.same(idsOf(await timers.due(at(11), 10)), ['other'])
  t.same(idsOf(await timers.due(at(12), 10)), ['other'])
})

t.test(
  'when attempts of many timers that are gone are in the way, then the next ones come all the same',
  async (t) => {
    const { pool, timers } = await openTimers(t)
    const names = Array.from({ length: 20 }, (_, index) => `timer ${index}`)
    await set(pool, Object.fromEntries(names.map((name, index) => [name, index])))
    await postponeAll(timers, await timers.due(at(20), 20), 30)
    await pool.query("delete from read.timers where id <> 'timer 19'")
    t.same(idsOf(await timers.due(at(30), 5)), ['timer 19'])
  },
)

t.test(
  'while an older read model without owners is shown, nothing is due, and all of it once the new one is',
  async (t) => {
    const { pool, timers } = await openTimers(t)
    await set(pool, { one: 10 })
    const { rows } = await pool.query("select pg_get_viewdef('read.timers'::regclass) as shown")
    const older = 'select id, kind, subject, merchant, livemode, due_at'
    await pool.query(
      `create table older_timers as ${older} from read.timers; drop view read.timers cascade; create view read.timers as ${older} from older_timers`,
    )
    t.same(await timers.due(at(20), 10), [])
    await pool.query(`drop view read.timers; create view read.timers as ${rows[0].shown}`)
    t.match(await timers.due(at(20), 10), [{ id: 'one', attempts: 0 }])
  },
)

type Work = (timer: DueTimer<Owner>) => Promise<undefined>

function running(timers: PostgresTimers, work: Work): TimerRunnerOptions {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  // The runner asks nothing else of its tools.
  const tools = {
    dependencies: { clock: () => at(10), movedClocks: { ahead: () => [] } },
  } as unknown as TimerRunnerOptions['tools']
  return { processes: [{ timers: { test: work } }], timers, tools, log, assertHeld: () => undefined }
}

t.test('what has ended is postponed while others of the same look are still at work', async (t) => {
  const { pool, timers } = await openTimers(t)
  await set(pool, { quick: 0, slow: 0 })
  const postponed = async () => (await pool.query('select id from timer_attempts')).rows
  let seen: unknown
  const work: Work = async ({ id }) => {
    if (id === 'slow') seen = await eventually(postponed, ({ length }) => length > 0, patienceMs)
    return undefined
  }
  await runDue(running(timers, work))
  t.strictSame(seen, [{ id: 'quick' }])
  t.strictSame((await postponed()).length, 2)
})

t.test('a timer of a kind that nobody here knows is left alone, and the others are run', async (t) => {
  const { pool, timers } = await openTimers(t)
  const others = Array.from({ length: 200 }, (_, index) => `other ${index}`)
  await set(pool, Object.fromEntries([...others, 'newer'].map((name) => [name, name === 'newer' ? 0 : 1])))
  await pool.query("update read.timers set kind = 'of a newer version' where id = 'newer'")
  const run: string[] = []
  const work = async ({ id }: DueTimer<Owner>) => {
    run.push(id)
    return undefined
  }
  await runDue(running(timers, work))
  t.same(run.sort(), others.sort())
  const { rows } = await pool.query('select from timer_attempts where id = $1', ['newer'])
  t.equal(rows.length, 0, 'nobody has touched it')
})
