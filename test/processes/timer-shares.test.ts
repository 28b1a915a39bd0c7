import t, { type Test } from 'tap'
import type pg from 'pg'
import { v7 } from 'uuid'
import { LeadershipLostError, fenced } from '../../infra/postgres/consumers/fence.ts'
import { timerShares, TimerShares } from '../../infra/postgres/consumers/timer-shares.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { PostgresTimers } from '../../infra/postgres/timers.ts'
import { timers as timersModel } from '../../projections/timers.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase, ownLocks } from '../support/postgres.ts'

const all = Array.from({ length: timerShares }, (_, share) => share)

function runner(t: Test, pool: pg.Pool, instance: string): TimerShares {
  const shares = new TimerShares({ pool, instance })
  t.teardown(() => shares.close())
  return shares
}

/** Looks as their processes do, until these many shares are held by each. */
async function divided(runners: readonly TimerShares[], parts: readonly number[]): Promise<void> {
  const look = async () => {
    for (const one of runners) await one.balance()
    return runners.map(({ held }) => held.length).sort()
  }
  const wanted = [...parts].sort()
  await eventually(look, (lengths) => lengths.join() === wanted.join())
}

const together = (runners: readonly TimerShares[]) => runners.flatMap(({ held }) => held).sort()

t.test('runners divide the shares among themselves, and what one leaves the others take', async (t) => {
  const { pool } = await testDatabase(t)
  const [first, second, third] = ['first', 'second', 'third'].map((name) => runner(t, pool, name))
  await divided([first!], [8])
  await divided([first!, second!], [4, 4])
  t.strictSame(together([first!, second!]), all)
  await divided([first!, second!, third!], [3, 3, 2])
  t.strictSame(together([first!, second!, third!]), all)
  await second!.close()
  await divided([first!, third!], [4, 4])
  t.strictSame(together([first!, third!]), all)
})

t.test('whoever loses its session loses its shares, and its transactions write nothing more', async (t) => {
  const { pool } = await testDatabase(t)
  const [first, second] = ['first', 'second'].map((name) => runner(t, pool, name))
  await divided([first!], [8])
  const [timers, held] = [new PostgresTimers(pool, first), first!.fenceNow()]
  const asHeld = timers.asHeldNow()
  first!.assertHeld()
  await pool.query(`
    select pg_terminate_backend(pid) from ${ownLocks} where locktype = 'advisory' and mode = 'ShareLock'`)
  await divided([second!], [8])
  t.throws(() => first!.assertHeld(), LeadershipLostError)
  await t.rejects(fenced(pool, first!.fenceNow(), mark), LeadershipLostError)
  await second!.close()
  await divided([first!], [8])
  await fenced(pool, first!.fenceNow(), mark)
  await t.rejects(fenced(pool, held, mark), LeadershipLostError, 'what was lost does not return')
  const timer = { id: 'a:b', dueAt: '2026-01-01T00:00:00Z' }
  await t.rejects(asHeld.postpone(timer, new Date()), LeadershipLostError)
  await timers.asHeldNow().postpone(timer, new Date())
})

const mark = (connection: pg.ClientBase) => connection.query("insert into checkpoints values ('one', 1)")

t.test('what is under way keeps its share, of which nothing more is handed out until then', async (t) => {
  const { pool } = await testDatabase(t)
  const [first, second] = ['first', 'second'].map((name) => runner(t, pool, name))
  await divided([first!], [8])
  const busySince = performance.now()
  const begunBefore = new PostgresTimers(pool, first).asHeldNow()
  const held = async () => {
    await first!.balance({ busySince })
    await second!.balance()
    return [first!.held.length, second!.held.length].join()
  }
  await eventually(held, (lengths) => lengths === '4,0')
  const begunSince = new PostgresTimers(pool, first).asHeldNow()
  const timer = { id: 'a:b', dueAt: '2026-01-01T00:00:00Z' }
  await begunBefore.postpone(timer, new Date())
  const later = performance.now()
  const freed = async () => {
    await first!.balance({ busySince: later })
    await second!.balance()
    return [first!.held.length, second!.held.length].join()
  }
  await eventually(freed, (lengths) => lengths === '4,4')
  t.strictSame(together([first!, second!]), all)
  await begunSince.postpone(timer, new Date())
  await t.rejects(begunBefore.postpone(timer, new Date()), LeadershipLostError)
})

t.test('each runner is handed the timers of its own shares, all of an owner by one of them', async (t) => {
  const { pool } = await testDatabase(t)
  await publishMissing(pool, [timersModel], '')
  const owners = Array.from({ length: 40 }, () => v7())
  for (const column of ['merchant', 'organization', '"user"']) {
    await pool.query(
      `insert into read.timers (id, kind, subject, ${column}, due_at)
       select 'test:' || owner || '.' || n, 'test', owner || '.' || n, owner, now()
       from unnest($1::text[]) as owner, generate_series(1, 3) as n`,
      [owners.map(() => v7())],
    )
  }
  const runners = ['first', 'second'].map((name) => runner(t, pool, name))
  await divided(runners, [4, 4])
  const due = (shares: TimerShares) => new PostgresTimers(pool, shares).due(new Date(), 1_000)
  const [mine, others] = [await due(runners[0]!), await due(runners[1]!)]
  t.ok(mine.length > 0 && others.length > 0)
  t.equal(new Set([...mine, ...others].map(({ id }) => id)).size, owners.length * 3 * 3)
  const ownersOf = (timers: typeof mine) => new Set(timers.map(({ subject }) => subject.split('.')[0]!))
  t.equal(ownersOf(mine).size + ownersOf(others).size, owners.length * 3)
})

t.test('what a runner takes over it looks for from the beginning', async (t) => {
  const { pool } = await testDatabase(t)
  await publishMissing(pool, [timersModel], '')
  const [first, second] = ['first', 'second'].map((name) => runner(t, pool, name))
  await divided([first!, second!], [4, 4])
  const timers = new PostgresTimers(pool, first)
  t.strictSame(await timers.due(new Date(), 10), [])
  await pool.query(
    `insert into read.timers (id, kind, subject, merchant, livemode, due_at)
     select 'test:' || n, 'test', n, gen_random_uuid(), true, now() - interval '1 hour'
     from generate_series(1, 100) as n`,
  )
  await second!.close()
  await divided([first!], [8])
  t.equal((await timers.due(new Date(), 1_000)).length, 100)
})
