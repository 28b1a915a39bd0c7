import pg from 'pg'
import { connectionOptions, surviveBrokenConnections } from '../client/connect.ts'

/** Who falls asleep with the lock in its hands keeps the others waiting no longer than this. */
const asleepMsMax = 10_000

/**
 * A plan made while the table is young reads all of it, and a prepared statement would keep that plan when
 * the table has grown. Planning anew costs a microsecond for each delivery of a batch. All rows that are
 * looked for stand in small indexes, which the planner does not know before the table has been analyzed.
 */
const settings = `
  set plan_cache_mode = force_custom_plan;
  set enable_seqscan = off;
  set jit = off;
  set idle_in_transaction_session_timeout = ${asleepMsMax}`

/** One for taking in hand, one for writing down what attempts came to, one for their consequences. */
const connectionsMax = 3

/** Statements do not wait for the answer to the one before, so a transaction is one round trip. */
export function openDeliveryPool(url: string): pg.Pool {
  const onConnect = async (client: pg.ClientBase) => void (await client.query(settings))
  const pool = new pg.Pool({ ...connectionOptions(url), pipeline: true, max: connectionsMax, onConnect })
  surviveBrokenConnections(pool)
  return pool
}

/**
 * Taking deliveries in hand goes one process after the other, so that each sees what the others hold: order
 * depends on it.
 */
const handsLock = 4_719_202_605

/**
 * The statement sees what was committed before it got the lock, because it begins only then. It does not run
 * without the lock: in a transaction that failed, the server refuses it.
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
