import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import t from 'tap'
import { backlog } from '../../infra/postgres/consumers/backlog.ts'
import { ParkedEvents, requestRetry, type ParkedEvent } from '../../infra/postgres/consumers/parked.ts'
import { answerRequests } from '../../infra/postgres/consumers/retries.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

const target = 'tally-1'

function eventAt(revision: number): ParkedEvent {
  return { stream: 'diary-1', revision, position: 10 * revision, eventId: randomUUID(), type: 'NoteTaken' }
}

t.test('what is parked while the last before it is released stays known, or is not parked', async (t) => {
  const { pool } = await testDatabase(t)
  const parked = new ParkedEvents(pool, 'policies')
  await parked.load()
  await parked.park(target, [eventAt(1)], 'poison')
  // Somebody else holds the row, so that releasing has begun and does not end.
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from parked for update')
  const releasing = parked.release(target, eventAt(1))
  const waiting = `select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await eventually(
    async () => (await pool.query<{ count: number }>(waiting)).rows[0]!.count,
    (count) => count === 1,
  )
  const parking = parked.parkBehind(target, [eventAt(2)])
  for (let turns = 0; turns < 50; turns++) await pool.query('select')
  await holder.query('commit')
  holder.release()
  await releasing
  const isParked = await parking
  const { rowCount } = await pool.query('select from parked')
  t.equal(rowCount, isParked ? 1 : 0)
  t.equal(parked.has(target), isParked, 'nobody goes past what is parked')
})

t.test('what is parked behind another is released after it', async (t) => {
  const { pool } = await testDatabase(t)
  const parked = new ParkedEvents(pool, 'policies')
  await parked.park(target, [eventAt(1)], 'poison')
  t.equal(await parked.parkBehind(target, [eventAt(2)]), true)
  await parked.release(target, eventAt(1))
  t.equal(parked.has(target), true)
  t.match(await parked.eventsOf(target), [{ stream: 'diary-1', revision: 2 }])
  await parked.release(target, eventAt(2))
  t.equal(parked.has(target), false)
  t.equal(await parked.parkBehind(target, [eventAt(3)]), false, 'then nothing waits any more')
})

/** A pool which loses the answer of a commit when it is told to. */
function losingAnswers(pool: pg.Pool) {
  const losing = { isNext: false }
  const connect = async () => {
    const connection = await pool.connect()
    const query = async (...given: [string, unknown[]?]) => {
      const result = await connection.query(...given)
      if (given[0] !== 'commit' || !losing.isNext) return result
      losing.isNext = false
      throw new Error('Connection terminated unexpectedly')
    }
    return { query, release: () => connection.release() }
  }
  // Parking uses nothing else of a pool.
  return { lossy: { connect, query: pool.query.bind(pool) } as unknown as pg.Pool, losing }
}

t.test('what may have been parked is tried again when somebody asks', async (t) => {
  const { pool } = await testDatabase(t)
  const { lossy, losing } = losingAnswers(pool)
  const parked = new ParkedEvents(lossy, 'policies')
  await parked.load()
  losing.isNext = true
  await t.rejects(parked.park(target, [eventAt(1)], 'poison'))
  t.equal(await requestRetry(pool), 1)
  t.strictSame(await parked.retryRequests(), [target])
  await requestRetry(pool)
  await parked.park('tally-2', [eventAt(2)], 'poison')
  await parked.release('tally-2', eventAt(2))
  t.strictSame(await parked.retryRequests(), [target], 'also when another has been parked and released since')
})

/** A pool whose first commit has no answer, and is carried out when it is told to. */
function lateCommit(pool: pg.Pool) {
  let isLost = false
  let arrive: () => Promise<unknown> = async () => undefined
  const connect = async () => {
    const connection = await pool.connect()
    if (isLost) return connection
    isLost = true
    const query = async (...given: [string, unknown[]?]) => {
      if (!['commit', 'rollback'].includes(given[0])) return connection.query(...given)
      throw new Error('Connection terminated unexpectedly')
    }
    arrive = () => connection.query('commit').finally(() => connection.release())
    return { query, release: () => undefined }
  }
  const late = { connect, query: pool.query.bind(pool) } as unknown as pg.Pool
  return { late, arrive: () => arrive() }
}

t.test('what is parked after nothing was found parked is tried again when somebody asks', async (t) => {
  const { pool } = await testDatabase(t)
  const { late, arrive } = lateCommit(pool)
  const parked = new ParkedEvents(late, 'policies')
  await parked.load()
  await t.rejects(parked.park(target, [eventAt(2)], 'poison'))
  await parked.setAside(target, eventAt(1), 'no answer')
  await parked.release(target, eventAt(1))
  t.strictSame(await parked.retryRequests(), [])
  await arrive()
  t.equal(await requestRetry(pool), 1)
  t.strictSame(await parked.retryRequests(), [target])
  t.equal(parked.has(target), true, 'and nobody goes past it')
  await parked.release(target, eventAt(2))
  t.equal(parked.has(target), false)
})

t.test('where nothing was parked and nothing failed, nobody looks for requests', async (t) => {
  const parked = new ParkedEvents({} as unknown as pg.Pool, 'policies')
  t.strictSame(await parked.retryRequests(), [])
})

t.test('nothing waits behind what may have been released and is', async (t) => {
  const { pool } = await testDatabase(t)
  const { lossy, losing } = losingAnswers(pool)
  const parked = new ParkedEvents(lossy, 'policies')
  await parked.park(target, [eventAt(1)], 'poison')
  losing.isNext = true
  await t.rejects(parked.release(target, eventAt(1)))
  t.equal(await parked.parkBehind(target, [eventAt(2)]), false)
  t.equal(parked.has(target), false)
})

t.test('what may have been parked is not done as well, and what was not is done', async (t) => {
  const { pool } = await testDatabase(t)
  const { lossy, losing } = losingAnswers(pool)
  const parked = new ParkedEvents(lossy, 'policies')
  losing.isNext = true
  await t.rejects(parked.park(target, [eventAt(1)], 'poison'))
  t.equal(parked.has(target), true)
  t.equal(await parked.parkBehind(target, [eventAt(1)]), true, 'its page came once more')
  t.match(await parked.eventsOf(target), [{ stream: 'diary-1', revision: 1 }])
  losing.isNext = true
  await t.rejects(parked.park('tally-2', [eventAt(2)], 'poison'))
  // As if it had been lost on its way there.
  await pool.query('delete from parked where revision = 2')
  t.equal(await parked.parkBehind('tally-2', [eventAt(2)]), false)
  t.equal(parked.has('tally-2'), false)
})

/** Its time has come, of those that have one. */
const isTime = (pool: pg.Pool) => pool.query('update parked set retry_at = now() where retry_at is not null')
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

t.test('what waits behind an event that is tried again by itself is tried again by itself', async (t) => {
  const { pool } = await testDatabase(t)
  const { lossy, losing } = losingAnswers(pool)
  for (const isLost of [false, true]) {
    const parked = new ParkedEvents(lossy, `answers ${isLost}`)
    await parked.setAside(target, eventAt(1), 'no answer')
    for (const revision of [2, 3]) await parked.parkBehind(target, [eventAt(revision)])
    const done: number[] = []
    const isAway = new Set([2])
    const retry = async (_: string, { revision }: { readonly revision: number }) => {
      if (isAway.delete(revision)) throw new Error('no answer')
      done.push(revision)
    }
    await isTime(pool)
    // The release of the first, behind the taking of the request.
    if (isLost) parked.retryRequests = async () => [target]
    losing.isNext = isLost
    await answerRequests({ parked, retry }, silent)
    t.strictSame(done, [1])
    Reflect.deleteProperty(parked, 'retryRequests')
    for (const _ of [1, 2, 3]) {
      await isTime(pool)
      await answerRequests({ parked, retry }, silent)
    }
    t.strictSame(done, [1, 2, 3])
    t.equal(parked.has(target), false)
  }
})

t.test('what waits behind an event that is tried again by itself alarms as late as that', async (t) => {
  const { pool } = await testDatabase(t)
  const parked = new ParkedEvents(pool, 'reactions')
  const counted = async () => (await backlog(pool)).parked['reactions'] ?? 0
  await parked.setAside(target, eventAt(2), 'no answer')
  await parked.parkBehind(target, [eventAt(3)])
  await parked.setAside('tally-2', eventAt(4), 'no answer')
  t.equal(await counted(), 0)
  await pool.query(`update parked set parked_at = now() - interval '16 minutes' where revision in (2, 3)`)
  t.equal(await counted(), 2)
  await parked.release(target, eventAt(2))
  t.equal(await counted(), 1)
  await parked.park('tally-3', [eventAt(5)], 'poison')
  await parked.parkBehind('tally-3', [eventAt(6)])
  t.equal(await counted(), 3, 'what waits behind an event that is not is counted at once')
})

t.test('what was set aside without an answer is still tried again by itself', async (t) => {
  const { pool } = await testDatabase(t)
  const { lossy, losing } = losingAnswers(pool)
  const parked = new ParkedEvents(lossy, 'reactions')
  losing.isNext = true
  await t.rejects(parked.setAside(target, eventAt(1), 'no answer'))
  await parked.setAside(target, eventAt(1), 'no answer')
  t.equal(await parked.parkBehind(target, [eventAt(1)]), true, 'its page came once more')
  const { rows } = await pool.query('select error, retry_at is not null as again from parked')
  t.same(rows, [{ error: 'no answer', again: true }])
})
