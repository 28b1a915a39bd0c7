import pg from 'pg'
import { startEmbeddedPostgres } from '../server/embedded.ts'
import { SharedReads } from './shared-reads.ts'
import { valueTypes } from './value-types.ts'

export interface Postgres {
  /** A connection string, for those who need a connection of their own. */
  readonly url: string
  readonly pool: pg.Pool
  /** For reads whose cost depends on what the caller asks for. */
  readonly reads: SharedReads
  /** For those who watch: their questions end in time, and take no connection from those who work. */
  readonly watching: pg.Pool
  /** Closes the connections, and stops the embedded server if it is one that no other process uses. */
  close(): Promise<void>
}

export interface PostgresOptions {
  /** Left out: the embedded server. */
  readonly url?: string | undefined
  readonly dataDirectory: string
}

const applicationName = 'ikw-payments'
const connectionsMax = 10
/** Limits for reads whose cost depends on what the caller asks for, and for those who watch. */
const readsMax = 6
const watchersMax = 2
const readMsMax = 5_000
const connectTimeoutMs = 5_000
const versionMin = 15

/** The only place that chooses between the embedded server and an external one. */
export async function connectPostgres({ url, dataDirectory }: PostgresOptions): Promise<Postgres> {
  if (url !== undefined) return openPool(url, async () => undefined)
  const server = await startEmbeddedPostgres({ directory: dataDirectory })
  return openPool(server.url, server.stop)
}

/** Settings common to all our connections. */
export function connectionOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: valueTypes,
  }
}

async function openPool(url: string, stop: () => Promise<void>): Promise<Postgres> {
  const pool = new pg.Pool({ ...connectionOptions(url), max: connectionsMax })
  surviveBrokenConnections(pool)
  try {
    await checkVersion(pool, url)
  } catch (error) {
    await pool.end()
    await stop()
    throw error
  }
  const watching = boundedPool(url, watchersMax)
  const reads = new SharedReads(boundedPool(url, readsMax))
  const close = async () => {
    await Promise.all([reads.close(), watching.end()])
    await pool.end()
    await stop()
  }
  return { url, pool, reads, watching, close }
}

/** Its statements end in time, also where they wait for a lock. */
function boundedPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ ...connectionOptions(url), max, statement_timeout: readMsMax })
  surviveBrokenConnections(pool)
  return pool
}

/**
 * The pool drops a broken connection and opens another when needed; a failing query reports the error. A
 * connection in use has no error listener from the pool: without one, its end would end this process.
 */
export function surviveBrokenConnections(pool: pg.Pool): void {
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
}

async function checkVersion(pool: pg.Pool, url: string): Promise<void> {
  const version = await serverVersion(pool, url)
  if (version < versionMin) {
    const place = withoutPassword(url)
    throw new Error(`PostgreSQL at ${place} is version ${version}, but ${versionMin} or later is needed`)
  }
}

async function serverVersion(pool: pg.Pool, url: string): Promise<number> {
  try {
    const { rows } = await pool.query<{ server_version_num: string }>('show server_version_num')
    return Math.floor(Number(rows[0]?.server_version_num) / 10_000)
  } catch (cause) {
    const message = `PostgreSQL at ${withoutPassword(url)} cannot be reached: ${reason(cause)}`
    throw new Error(message, { cause })
  }
}

/** When a name has several addresses, Node reports one error per address and no message of its own. */
function reason(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reason).join(', ')
  return cause instanceof Error ? cause.message : String(cause)
}

function withoutPassword(url: string): string {
  const { host, port, database } = new pg.Client(url)
  return `${host}:${port}/${database}`
}
