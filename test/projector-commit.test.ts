import type pg from 'pg'
import t from 'tap'
import { Projector } from '../infra/postgres/projector.ts'
import { book } from '../packages/domain/ledger/book.ts'
import { balances } from '../projections/balances.ts'
import { testDatabase } from './support/postgres.ts'
import { envelope, id, openLog, topUp } from './support/shared-log.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** A pool which loses the answer of one commit that moves money. */
function losingOneAnswer(pool: pg.Pool) {
  const losing = { isNext: false }
  const connect = async () => {
    const connection = await pool.connect()
    const query = async (...given: [string, unknown[]?]) => {
      const result = await connection.query(...given)
      if (given[0] !== 'commit' || !losing.isNext) return result
      losing.isNext = false
      throw new Error('Connection terminated unexpectedly')
    }
    // A Submittable goes to the driver as it is.
    const either = (...given: [string, unknown[]?]) => {
      return typeof given[0] === 'string' ? query(...given) : connection.query(...given)
    }
    return { query: either, release: () => connection.release() }
  }
  // The projector uses nothing else of a pool.
  const lossy = { connect, query: pool.query.bind(pool) } as unknown as pg.Pool
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
