import pg from 'pg'
import { connectionOptions, surviveBrokenConnections } from '../client/connect.ts'

/** A process suspended while it holds the lock blocks the others for at most this long. */
const asleepMsMax = 10_000

/**
 * A plan made while the table is young scans all of it, and a prepared statement would keep that plan.
 * Planning anew costs a microsecond per delivery of a batch. All rows looked for are in small indexes, whose
 * size the planner does not know before the table is analysed.
 */
const settings = `
  set plan_cache_mode = force_custom_plan;
  set enable_seqscan = off;
  set jit = off;
  set idle_in_transaction_session_timeout = ${asleepMsMax}`

/** One connection for claims, one for results of attempts, one for their consequences. */
const connectionsMax = 3

/** Statements are pipelined, so a transaction is one round trip. */
export function openDeliveryPool(url: string): pg.Pool {
  const onConnect = async (client: pg.ClientBase) => void (await client.query(settings))
  const pool = new pg.Pool({ ...connectionOptions(url), pipeline: true, max: connectionsMax, onConnect })
  surviveBrokenConnections(pool)
  return pool
}

/** Claims take turns between processes, so that each sees what the others hold: order depends on it. */
const handsLock = 4_719_202_605

/**
 * The statement sees everything committed before it got the lock, because it starts only then. It never runs
 * without the lock: in a failed transaction the server refuses it.
 */
export async function alone<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> {
  const connection = await pool.connect()
  try {
    const [, result] = await Promise.all([
      connection.query(`begin; select pg_advisory_xact_lock(${handsLock})`),
      connection.query<Row>(query),
      connection.query('commit'),
    ])
    connection.release()
    return result
  } catch (error) {
    connection.release(true)
    throw error
  }
}
