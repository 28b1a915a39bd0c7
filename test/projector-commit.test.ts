import type pg from 'pg'
import t from 'tap'
import { planByKey } from '../infra/postgres/prepared-statements.ts'
import { Projector } from '../infra/postgres/projector.ts'
import { publications, publishMissing, wantRebuild } from '../infra/postgres/publication.ts'
import { book } from '../packages/domain/ledger/book.ts'
import { balances } from '../projections/balances.ts'
import { journal } from '../projections/journal.ts'
import { startProjector } from '../services/projector/main.ts'
import { eventually } from './support/eventually.ts'
import { testDatabase } from './support/postgres.ts'
import { envelope, id, openLog, topUp } from './support/shared-log.ts'

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

/** A pool which loses the answer of one commit that moves money. */
function losingOneAnswer(pool: pg.Pool) {
  const losing = { isNext: false }
  const lossy = overheard(pool, () => async (text, ask) => {
    const result = await ask()
    if (text !== 'commit' || !losing.isNext) return result
    losing.isNext = false
    throw new Error('Connection terminated unexpectedly')
  })
  return { lossy, losing }
}

t.test('a batch whose commit was answered by nobody is counted once', async (t) => {
  const { pool } = await testDatabase(t)
  const { log, store, process } = openLog()
  await process().send(book, id, topUp('first', 100), envelope)
  const { lossy, losing } = losingOneAnswer(pool)
  await pool.query('create schema if not exists read')
  const projector = new Projector({ pool: lossy, store, deciders: [book], log: silent })
  const track = await projector.open(balances, 1)
  losing.isNext = true
  await t.rejects(projector.apply([track], log.events, log.head))
  await projector.apply([track], log.events, log.head)
  await process().send(book, id, topUp('second', 20), envelope)
  await projector.apply([track], log.events, log.head)
  const { rows } = await pool.query(`select available, entries from ${track.table.name}`)
  t.same(rows, [{ available: 120, entries: 2 }])
})

/** A pool on which, of two batches at once, the first fails and the second ends only then. */
function failingFirst(pool: pg.Pool, tell: (what: string) => void) {
  let batches = 0
  let failed: () => void = () => undefined
  const failure = new Promise<void>((resolve) => (failed = resolve))
  const fail = async (ask: Ask) => {
    const result = await ask()
    tell('one has failed')
    failed()
    return result
  }
  const end = async (ask: Ask) => {
    await failure
    return ask().finally(() => tell('the other has ended'))
  }
  return overheard(pool, () => {
    let batch = 0
    return async (text, ask) => {
      if (text === planByKey) batch = ++batches
      if (batch === 1 && text === 'commit') throw new Error('the disk is full')
      if (batch === 1 && text === 'rollback') return fail(ask)
      return batch === 2 && text === 'commit' ? end(ask) : ask()
    }
  })
}

t.test('a rebuild that fails is tried again when nobody works on it any more', async (t) => {
  const { pool } = await testDatabase(t)
  const { store, process } = openLog()
  const models = [balances, journal]
  await publishMissing(pool, models, '')
  await process().send(book, id, topUp('first', 100), envelope)
  for (const model of models) await wantRebuild(pool, model)
  const told: string[] = []
  const tell = (what: string) => void told.push(what)
  const projector = await startProjector({
    pool: failingFirst(pool, tell),
    store: Object.assign(store, { subscribe: () => ({ close: async () => undefined }) }),
    models,
    deciders: [book],
    dependents: '',
    log: { ...silent, warn: () => tell('it is tried again') },
  })
  t.teardown(() => projector.close())
  await eventually(
    () => publications(pool),
    (shown) => models.every(({ name }) => shown.get(name)?.generation === 2),
  )
  t.strictSame(told, ['one has failed', 'the other has ended', 'it is tried again'])
})
