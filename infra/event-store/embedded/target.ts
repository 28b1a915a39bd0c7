import pg from 'pg'
import type { HistoryTarget } from '../../history/copy.ts'
import { connectionOptions, surviveBrokenConnections } from '../../postgres/client/connect.ts'
import { keepHistory, keptHistory } from '../../postgres/history/history.ts'
import { inTransaction } from '../../postgres/client/transaction.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'
import { openEmbeddedStore } from './store.ts'

/** The same lock as in `append_events`: positions become visible in order. */
const appendLock = 4_719_202_602

const insertEvents = `
  insert into events (position, stream, revision, id, type, data, metadata)
  select * from unnest($1::bigint[], $2::text[], $3::integer[], $4::uuid[], $5::text[], $6::json[], $7::json[])`

/** The event store on a fully migrated PostgreSQL database, to be filled with a history. */
export async function openEmbeddedTarget(url: string): Promise<HistoryTarget> {
  const store = await openEmbeddedStore({ url })
  const pool = new pg.Pool({ ...connectionOptions(url), max: 1 })
  surviveBrokenConnections(pool)
  const isEmpty = (await store.head()) === 0
  const { id } = await keptHistory(pool)
  const { rows } = await pool.query<{ position: number }>(
    'select position from events order by position desc offset 1 limit 1',
  )
  return {
    store,
    id: isEmpty ? undefined : id,
    surelyThrough: rows[0]?.position ?? 0,
    begin: (id) => keepHistory(pool, { id, isIncomplete: true }),
    write: (events) => write(pool, events),
    complete: (id) => keepHistory(pool, { id, isIncomplete: false }),
    close: async () => {
      await store.close()
      await pool.end()
    },
  }
}

/** All or none. */
function write(pool: pg.Pool, events: readonly StoredEvent[]): Promise<void> {
  return inTransaction(pool, async (connection) => {
    await connection.query('select pg_advisory_xact_lock($1)', [appendLock])
    await connection.query({ name: 'copy-events', text: insertEvents, values: columnsOf(events) })
  })
}

function columnsOf(events: readonly StoredEvent[]): unknown[] {
  return [
    events.map(({ position }) => position),
    events.map(({ stream }) => stream),
    events.map(({ revision }) => revision),
    events.map(({ id }) => id),
    events.map(({ type }) => type),
    events.map(({ data }) => JSON.stringify(data)),
    events.map(({ metadata }) => JSON.stringify(metadata)),
  ]
}
