import pg from 'pg'
import t, { type Test } from 'tap'
import { surviveBrokenConnections } from '../../infra/postgres/client/connect.ts'
import { planByKey } from '../../infra/postgres/client/prepared-statements.ts'
import { Projector } from '../../infra/postgres/read-models/projector.ts'
import {
  publications,
  publishMissing,
  requestNewGeneration,
} from '../../infra/postgres/read-models/publication.ts'
import { readInPages } from '../../packages/kernel/pages.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balances } from '../../projections/balances.ts'
import { journal } from '../../projections/journal.ts'
import { payouts } from '../../projections/payouts.ts'
import { startProjector } from '../../services/projector/main.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'
import { envelope, id, openLog, topUp } from '../support/event-store/shared-log.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

type Ask = () => Promise<pg.QueryResult>
type Between = (text: string, ask: Ask) => Promise<pg.QueryResult>

/** A pool with somebody between each of its connections and who uses it. */
function overheard(pool: pg.Pool, between: () => Between): pg.Pool {
  const connect = async () => {
    const connection = await pool.connect()
    const hear = between()
    // A Submittable goes to the driver as it is.
    const query = (...given: [string, unknown[]?]) => {
      const ask = () => connection.query(...given)
      return typeof given[0] === 'string' ? hear(given[0], ask) : ask()
    }
    return { query, release: () => connection.release() }
  }
  // The projector uses nothing else of a pool.
  return { connect, query: pool.query.bind(pool) } as unknown as pg.Pool
}

/** A pool which loses the answer of one commit that moves money, or of one statement that does so alone. */
function losingOneAnswer(pool: pg.Pool) {
  const losing = { isNext: false }
  const lose = (result: pg.QueryResult) => {
    if (!losing.isNext) return result
    losing.isNext = false
    throw new Error('Connection terminated unexpectedly')
  }
  const lossy = overheard(pool, () => async (text, ask) => {
    const result = await ask()
    return text === 'commit' ? lose(result) : result
  })
  const query = async (...given: [string | pg.QueryConfig, unknown[]?]) => {
    const result = await pool.query(...(given as [string, unknown[]?]))
    return typeof given[0] === 'string' ? result : lose(result)
  }
  return { lossy: { ...lossy, query } as unknown as pg.Pool, losing }
}

for (const models of [[balances], [balances, journal]]) {
  t.test(`a batch of ${models.length} tables that was answered by nobody is counted once`, async (t) => {
    const { pool } = await testDatabase(t)
    const { log, store, process } = openLog()
    await process().send(book, id, topUp('first', 100), envelope)
    const { lossy, losing } = losingOneAnswer(pool)
    await pool.query('create schema if not exists read')
    const projector = new Projector({ pool: lossy, store, deciders: [book], log: silent })
    const tracks = await Promise.all(models.map((model) => projector.open(model, 1)))
    losing.isNext = true
    await t.rejects(projector.apply(tracks, log.events, log.head))
    await projector.apply(tracks, log.events, log.head)
    await process().send(book, id, topUp('second', 20), envelope)
    await projector.apply(tracks, log.events, log.head)
    const { rows } = await pool.query(`select available, entries from ${tracks[0]!.table.name}`)
    t.same(rows, [{ available: 120, entries: 2 }])
  })
}

t.test('a parked stream is brought up to a checkpoint that moved without an answer', async (t) => {
  const { pool } = await testDatabase(t)
  const { log, store, process } = openLog()
  await pool.query('create schema if not exists read')
  let isPoisoned = true
  const EntryPosted: typeof balances.on.EntryPosted = (...given) => {
    if (isPoisoned) throw new Error('poison')
    return balances.on.EntryPosted!(...given)
  }
  const { lossy, losing } = losingOneAnswer(pool)
  const projector = new Projector({ pool: lossy, store, deciders: [book], log: silent })
  const track = await projector.open({ ...balances, on: { ...balances.on, EntryPosted } }, 1)
  await process().send(book, id, topUp('first', 100), envelope)
  await projector.apply([track], log.events, log.head)
  isPoisoned = false
  await process().send(book, id, topUp('second', 20), envelope)
  losing.isNext = true
  await t.rejects(projector.apply([track], log.events, log.head))
  await projector.unpark(track, log.events[0]!.stream)
  await projector.apply([track], log.events, log.head)
  const { rows } = await pool.query(`select available, entries from ${track.table.name}`)
  t.same(rows, [{ available: 120, entries: 2 }])
  t.equal((await pool.query('select from parked')).rowCount, 0)
})

t.test('where somebody else has moved one read model, nothing is written to the others', async (t) => {
  const { pool } = await testDatabase(t)
  const { log, store, process } = openLog()
  await process().send(book, id, topUp('first', 100), envelope)
  await pool.query('create schema if not exists read')
  const projector = new Projector({ pool, store, deciders: [book], log: silent })
  const tracks = await Promise.all([balances, payouts].map((model) => projector.open(model, 1)))
  const [written, moved] = tracks.map(({ table }) => table.name)
  await pool.query('update checkpoints set position = 1 where name = $1', [moved])
  await t.rejects(projector.apply(tracks, log.events, log.head), {
    message: 'these read models have been moved by somebody else',
  })
  t.equal((await pool.query(`select from ${written}`)).rowCount, 0)
  const { rows } = await pool.query('select position from checkpoints where name = $1', [written])
  t.same(rows, [{ position: 0 }])
  await projector.apply(tracks, log.events, log.head)
  t.same((await pool.query(`select available, entries from ${written}`)).rows, [
    { available: 100, entries: 1 },
  ])
})

/** A pool on which the first batch ends only when it may. */
function holdingFirst(pool: pg.Pool, until: Promise<void>, tell: (what: string) => void) {
  let batches = 0
  return overheard(pool, () => {
    let batch = 0
    return async (text, ask) => {
      if (text.endsWith(planByKey)) batch = ++batches
      if (batch !== 1 || text !== 'commit') return ask()
      await until
      return ask().finally(() => tell('the batch has ended'))
    }
  })
}

/** A log that is read event by event, and that fails the second time. */
function failingSecond(log: EventStore, tell: (what: string) => void) {
  let reads = 0
  let failed: () => void = () => undefined
  const failure = new Promise<void>((resolve) => (failed = resolve))
  const read = log.readAll.bind(log)
  const readAll = async (after: number) => {
    if (++reads !== 2) return read(after, 1)
    tell('the log is away')
    failed()
    throw new Error('the log is away')
  }
  const readOn = (after: number) => readInPages({ readAll }, after, 1)
  return {
    store: Object.assign(log, { readOn, subscribe: () => ({ close: async () => undefined }) }),
    failure,
  }
}

t.test('a rebuild that fails is tried again when nobody works on it any more', async (t) => {
  const { pool } = await testDatabase(t)
  const runtime = openLog()
  const models = [balances, journal]
  await publishMissing(pool, models, '')
  await runtime.process().send(book, id, topUp('first', 100), envelope)
  await runtime.process().send(book, id, topUp('second', 20), envelope)
  for (const model of models) await requestNewGeneration(pool, model)
  const told: string[] = []
  const tell = (what: string) => void told.push(what)
  const { store, failure } = failingSecond(runtime.store, tell)
  const projector = await startProjector({
    pool: holdingFirst(pool, failure, tell),
    store,
    models,
    deciders: [book],
    dependents: '',
    log: { ...silent, warn: () => tell('it is tried again') },
    spanMax: 1,
  })
  t.teardown(() => projector.close())
  await eventually(
    () => publications(pool),
    (shown) => models.every(({ name }) => shown.get(name)?.generation === 2),
  )
  t.strictSame(told, ['the log is away', 'the batch has ended', 'it is tried again'])
  const { rows } = await pool.query(`select available, entries from read.balances`)
  t.same(rows, [{ available: 120, entries: 2 }])
  t.equal((await pool.query('select from read.journal')).rowCount, 4)
})

/** A pool on which the first batch is not stored; `tell` hears of each that is. */
function refusingFirst(pool: pg.Pool, tell: (what: string) => void) {
  let batches = 0
  return overheard(pool, () => {
    let batch = 0
    return async (text, ask) => {
      if (text.endsWith(planByKey)) batch = ++batches
      if (batch === 0 || text !== 'commit') return ask()
      if (batch === 1) throw new Error('no room left')
      return ask().finally(() => tell('stored'))
    }
  })
}

t.test('where one table cannot be filled, the others go on, and nothing comes twice', async (t) => {
  const { pool } = await testDatabase(t)
  const { log, store, process } = openLog()
  const models = [balances, journal]
  await pool.query('create schema if not exists read')
  await process().send(book, id, topUp('first', 100), envelope)
  const told: string[] = []
  const tell = (what: string) => void told.push(what)
  const projector = new Projector({ pool: refusingFirst(pool, tell), store, deciders: [book], log: silent })
  const tracks = await Promise.all(models.map((model) => projector.openAnew(model, 1)))
  const fill = async () => {
    const span = await projector.begin(tracks)
    await projector.fold(span, log.events)
    await projector.writeApart(span, log.head)
  }
  await t.rejects(fill(), { message: 'no room left' })
  t.strictSame(told, ['stored'])
  await fill()
  t.strictSame(told, ['stored', 'stored'])
  await process().send(book, id, topUp('second', 20), envelope)
  await fill()
  t.same((await pool.query(`select available, entries from ${tracks[0]!.table.name}`)).rows, [
    { available: 120, entries: 2 },
  ])
  t.equal((await pool.query(`select from ${tracks[1]!.table.name}`)).rowCount, 4)
})

/** A role that is no superuser, and a pool whose connections take it. */
async function ownerOfTables(t: Test) {
  const { pool, url } = await testDatabase(t)
  const role = `owner_${new URL(url).pathname.slice(1)}`
  await pool.query(`create role ${role}; create schema read; grant all on schema read to ${role};
    grant all on all tables in schema public to ${role}`)
  t.teardown(() => pool.query(`drop owned by ${role}; drop role ${role}`))
  const owner = new pg.Pool({ connectionString: url })
  surviveBrokenConnections(owner)
  t.teardown(() => owner.end())
  owner.on('connect', (connection) => void connection.query(`set role ${role}`))
  return owner
}

t.test('indexes are made also by those who have no say in how PostgreSQL writes its log', async (t) => {
  const pool = await ownerOfTables(t)
  const { store } = openLog()
  const projector = new Projector({ pool, store, deciders: [book], log: silent })
  const track = await projector.openAnew(journal, 1)
  await projector.finish([track])
  const { rows } = await pool.query('select indexname from pg_indexes where schemaname = $1 order by 1', [
    'read',
  ])
  const names = rows.map(({ indexname }) => String(indexname))
  const table = `journal_v${journal.version}_1`
  t.strictSame(names, [`${table}_effective_at`, `${table}_pkey`, `${table}_subject`])
})
