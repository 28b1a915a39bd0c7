import { once } from 'node:events'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { Checkpoints } from '../../infra/postgres/consumers/checkpoints.ts'
import { DocumentFold } from '../../infra/postgres/read-models/document-fold.ts'
import { LeadershipLostError, fenced, type TermFence } from '../../infra/postgres/consumers/fence.ts'
import { lead, type LeaderTerm } from '../../infra/postgres/consumers/leader.ts'
import { ParkedEvents, takeRetryRequests, requestRetry } from '../../infra/postgres/consumers/parked.ts'
import { Projector } from '../../infra/postgres/read-models/projector.ts'
import { publish, publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { PostgresTimers } from '../../infra/postgres/timers.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import type { EventMetadata } from '../../packages/kernel/ports.ts'
import { documents } from '../../packages/kernel/projection.ts'
import { readModels } from '../../projections/index.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

const name = 'projector'
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Stands for election; answers each term that it wins. */
function candidate(t: Test, pool: pg.Pool, instance: string) {
  const reigns: LeaderTerm[] = []
  const leadership = lead({ pool, name, instance }, async (term) => {
    reigns.push(term)
    if (!term.signal.aborted) await once(term.signal, 'abort')
  })
  t.teardown(() => leadership.close())
  const term = async () => (
    await eventually(
      async () => reigns.length,
      (count) => count > 0,
    ),
    reigns[0]!
  )
  return { term, close: () => leadership.close() }
}

/** A fence whose leader has a successor. */
async function deposed(t: Test, pool: pg.Pool): Promise<LeaderTerm> {
  const first = candidate(t, pool, 'first')
  const term = await first.term()
  await first.close()
  await candidate(t, pool, 'second').term()
  return term
}

const mark = (connection: pg.ClientBase) => connection.query("insert into checkpoints values ('mark', 1)")
const marks = async (pool: pg.Pool) =>
  (await pool.query("select from checkpoints where name = 'mark'")).rowCount

t.test('a leader writes, and whoever was deposed does not', async (t) => {
  const { pool } = await testDatabase(t)
  const first = candidate(t, pool, 'first')
  const term = await first.term()
  await fenced(pool, term.fence, (connection) =>
    connection.query("insert into checkpoints values ('first', 1)"),
  )
  await first.close()
  const { fence } = await candidate(t, pool, 'second').term()
  await t.rejects(fenced(pool, term.fence, mark), LeadershipLostError)
  t.equal(await marks(pool), 0)
  await fenced(pool, fence, mark)
  t.equal(await marks(pool), 1)
  const { rows } = await pool.query('select name, epoch, instance from leaders')
  t.same(rows, [{ name, epoch: 2, instance: 'second' }])
})

t.test('nobody leads before the transactions of the last leader have ended', async (t) => {
  const { pool } = await testDatabase(t)
  const first = candidate(t, pool, 'first')
  const { fence } = await first.term()
  let finish: () => void = () => undefined
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const begun = new Promise<Promise<unknown>>((resolve) => {
    const writing = fenced(pool, fence, async (connection) => {
      resolve(writing)
      await finished
      return mark(connection)
    })
  })
  const writing = begun.then((one) => one)
  await eventually(
    async () => sessions(pool, 'idle in transaction'),
    (count) => count === 1,
  )
  await first.close()
  const second = candidate(t, pool, 'second')
  await eventually(
    async () => waiting(pool),
    (count) => count === 1,
  )
  const before = await pool.query<{ instance: string }>('select instance from leaders')
  t.same(before.rows, [{ instance: 'first' }])
  finish()
  await writing
  await second.term()
  t.equal(await marks(pool), 1, 'what was begun under the fence is written')
})

t.test('a leader that falls asleep in the middle of a COPY keeps nobody waiting', async (t) => {
  const { pool } = await testDatabase(t)
  const first = candidate(t, pool, 'first')
  const { fence } = await first.term()
  const connection = await pool.connect()
  await connection.query('begin')
  await fence(connection)
  const asleep = new Promise<void>((resolve) => connection.query(copyWithoutData(resolve)))
  await asleep
  await first.close()
  await candidate(t, pool, 'second').term()
  connection.release(true)
  t.equal(await marks(pool), 0)
})

/** A query of the driver's own kind that begins a COPY and never sends a row. */
function copyWithoutData(onBegun: () => void): pg.Submittable {
  return Object.assign(
    {
      submit: (connection: pg.Connection) => connection.query('copy checkpoints (name, position) from stdin'),
    },
    { handleCopyInResponse: onBegun, handleError: () => undefined },
  )
}

t.test('who is deposed knows it before it does anything outside', async (t) => {
  const { pool } = await testDatabase(t)
  const first = candidate(t, pool, 'first')
  const term = await first.term()
  term.assertLeading()
  await first.close()
  t.throws(() => term.assertLeading(), LeadershipLostError)
})

t.test('the fence ends the term of a leader that has not noticed', async (t) => {
  const { pool } = await testDatabase(t)
  const term = await candidate(t, pool, 'first').term()
  await pool.query('update leaders set epoch = epoch + 1')
  t.equal(term.signal.aborted, false)
  await t.rejects(fenced(pool, term.fence, mark), LeadershipLostError)
  t.equal(term.signal.aborted, true)
})

const payouts = documents(payout, {
  name: 'payouts',
  version: 1,
  columns: { status: 'text' },
  row,
  indexes: [],
})

function row() {
  return { status: 'none' }
}

const event = {
  stream: 'payout-1',
  revision: 0,
  position: 1,
  eventId: '00000000-0000-4000-8000-000000000000',
  type: 'X',
}
const unreadable = { ...event, id: event.eventId, data: {}, metadata: {} as EventMetadata }
const track = {
  model: payouts,
  generation: 2,
  fold: new DocumentFold(payouts, async () => []),
  parked: new Set<string>(),
  position: 0,
  isUnsure: false,
}
const table = { name: 'read.payouts_v1_2', view: 'read.payouts', columns: {}, key: ['id'] }

/** All that leaders write, each as it is written. */
const writers: Readonly<Record<string, (pool: pg.Pool, fence: TermFence) => Promise<unknown>>> = {
  'a checkpoint that is begun': (pool, fence) => new Checkpoints(pool, fence).load('new'),
  'how far work outside may have gone': (pool, fence) => new Checkpoints(pool, fence).attempt('relay', 9),
  'a checkpoint that moves': (pool, fence) => new Checkpoints(pool, fence).save('relay', 9),
  'what is parked': (pool, fence) =>
    new ParkedEvents(pool, 'relay', fence).park('payout-2', [event], 'poisoned'),
  'what is parked no more': (pool, fence) =>
    new ParkedEvents(pool, 'relay', fence).release('payout-1', event),
  'wishes that are taken': async (pool, fence) => {
    const parked = new ParkedEvents(pool, 'relay', fence)
    await parked.load()
    await parked.retryRequests()
  },
  'wishes of read models that are taken': (pool, fence) => takeRetryRequests(pool, fence),
  'attempts of timers': (pool, fence) =>
    new PostgresTimers(pool, { fenceNow: () => fence, held: [] }).postpone(
      { id: 'a:b', dueAt: '2026-01-01T00:00:00Z' },
      new Date(0),
    ),
  'attempts that are forgotten': (pool, fence) =>
    new PostgresTimers(pool, { fenceNow: () => fence, held: [] }).due(new Date(), 9),
  'the table of a read model': (pool, fence) => projectorOf(pool, fence).open(payouts, 2),
  'rows of a read model': (pool, fence) => projectorOf(pool, fence).apply([{ ...track, table }], [], 9),
  'rows of a read model with what it parks': (pool, fence) =>
    projectorOf(pool, fence).apply([{ ...track, parked: new Set(), table }], [unreadable], 9),
  'the view of a read model': (pool, fence) => publish({ pool, fence, dependents: '' }, { ...track, table }),
}

function projectorOf(pool: pg.Pool, fence: TermFence): Projector {
  const store = { readStream: async () => [] }
  return new Projector({ pool, fence, store: store as never, deciders: [payout], log: silent })
}

const tables = ['checkpoints', 'parked', 'timer_attempts', 'read.published']
const everything = tables
  .map((one) => `(select json_agg(x order by x::text) from ${one} x) as "${one}"`)
  .join(', ')
const catalogue =
  "(select json_agg(tablename::text order by tablename) from pg_tables where schemaname = 'read') as made"

t.test('a deposed leader writes nothing, whatever it writes', async (t) => {
  const { pool } = await testDatabase(t)
  await publishMissing(pool, readModels, '')
  await new Checkpoints(pool).load('relay')
  await new ParkedEvents(pool, 'relay').park('payout-1', [event], 'poisoned')
  await pool.query("insert into parked values ('read.payouts_v1_1', 'payout-1', 0, 1, $1, 'X', 'poisoned')", [
    event.eventId,
  ])
  await new PostgresTimers(pool).postpone({ id: 'c:d', dueAt: '2026-01-01T00:00:00Z' }, new Date(0))
  await requestRetry(pool)
  const { fence } = await deposed(t, pool)
  const state = async () => (await pool.query(`select ${everything}, ${catalogue}`)).rows
  const before = await state()
  for (const [what, write] of Object.entries(writers))
    await t.rejects(write(pool, fence), LeadershipLostError, what)
  t.same(await state(), before)
})

async function sessions(pool: pg.Pool, state: string): Promise<number> {
  const here = 'datname = current_database() and pid <> pg_backend_pid()'
  const { rowCount } = await pool.query(`select from pg_stat_activity where ${here} and state = $1`, [state])
  return rowCount ?? 0
}

async function waiting(pool: pg.Pool): Promise<number> {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    and query like 'insert into leaders%'`
  return (await pool.query(text)).rowCount ?? 0
}
