import pg from 'pg'
import { connectionOptions, surviveBrokenConnections } from '../../postgres/client/connect.ts'
import { SeenLog, type SeenEvent } from '../seen-log.ts'

/**
 * On a young table the planner prefers a full scan and sticks to it when the table has grown: the same append
 * fell from 29,000 to 6,000 a second. Every statement of the event store is meant to use an index, so nothing
 * else is allowed.
 */
const plannerSettings = `
  set enable_seqscan = off;
  set enable_bitmapscan = off;
  set enable_hashjoin = off;
  set enable_mergejoin = off;
  set enable_sort = off;
  set jit = off;
  set plan_cache_mode = force_generic_plan`

const readersMax = 4
/** Longer than any batch takes on a slow disk; after that the server is taken for lost. */
const queryTimeoutMs = 15_000

/** The writing connection: statements are pipelined. */
export async function openWriteConnection(url: string, seen: SeenLog): Promise<pg.Client> {
  const client = new pg.Client({ ...connectionOptions(url), pipeline: true, query_timeout: queryTimeoutMs })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query(plannerSettings)
    await seen.require((newest) => hasEvent(client, newest))
  } catch (error) {
    await client.end()
    throw error
  }
  return client
}

export function openReadPool(url: string, seen: SeenLog): pg.Pool {
  const onConnect = async (client: pg.ClientBase) => {
    await client.query(plannerSettings)
    await seen.require((newest) => hasEvent(client, newest))
  }
  const limits = { max: readersMax, query_timeout: queryTimeoutMs }
  const pool = new pg.Pool({ ...connectionOptions(url), ...limits, onConnect })
  surviveBrokenConnections(pool)
  return pool
}

/** Connections for a reader that has seen nothing of the log yet. */
export function openNewReadPool(url: string): pg.Pool {
  const onLost = (error: Error) => {
    throw error
  }
  return openReadPool(url, new SeenLog({ engine: 'PostgreSQL', onLost }))
}

async function hasEvent(client: pg.ClientBase, { position, id }: SeenEvent): Promise<boolean> {
  const text = 'select id from events where position = $1'
  const { rows } = await client.query<{ id: string }>(text, [position])
  return rows[0]?.id === id
}
