import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { connectPostgres, type Postgres } from '../../infra/postgres/client/connect.ts'
import { migrate } from '../../infra/postgres/migrate.ts'
import { LoadGenerator } from './load/generator.ts'

/**
 * Sizes and durations of a run: whole, or quick, which only shows the direction, or short, which only shows
 * that rows can be measured.
 */
export interface Scale {
  readonly stores: 'whole' | 'quick' | 'short'
  /** Stores that take too long to fill for a normal run. */
  readonly long: boolean
  readonly rounds: number
  /** Once before the first round: V8 needs some ten seconds of load to compile what is hot. */
  readonly compileMs: number
  /** Before each round. */
  readonly warmMs: number
  readonly measuredMs: number
}

/** Duration of the measurement, and of the warm-up before it. */
export type Times = Pick<Scale, 'warmMs' | 'measuredMs'>

/** The warm-up before the first round. */
export function compiling({ compileMs, warmMs }: Scale): Times {
  return { warmMs: compileMs, measuredMs: warmMs }
}

export const scales = {
  whole: { stores: 'whole', long: false, rounds: 3, compileMs: 8_000, warmMs: 1_500, measuredMs: 5_000 },
  quick: { stores: 'quick', long: false, rounds: 3, compileMs: 1_000, warmMs: 400, measuredMs: 1_000 },
  short: { stores: 'short', long: false, rounds: 1, compileMs: 1_000, warmMs: 200, measuredMs: 1_000 },
} satisfies Record<string, Scale>

/** How much a store is filled with: in a short run a fiftieth of a quick one. */
export function sizeIn({ stores }: Scale, { whole, quick }: { whole: number; quick: number }): number {
  if (stores === 'whole') return whole
  return stores === 'quick' ? quick : Math.ceil(quick / 50)
}

/** What all rows share: one PostgreSQL server, the load generator and the size of the run. */
export interface Bench {
  readonly scale: Scale
  readonly directory: string
  readonly server: Postgres
  readonly generator: LoadGenerator
  /** Creates a database of its own on the shared server. */
  database(name: string): Promise<BenchDatabase>
  /** Where a log of this name lives on the server of EVENTSTORE_URL; undefined when that is not set. */
  eventStoreFor(name: string): EventStorePlace | undefined
  /**
   * The same, with its log under a prefix of its own on the EventStoreDB of EVENTSTORE_URL, if that is set.
   */
  databaseWithLog(name: string): Promise<BenchDatabase>
  close(): Promise<void>
}

/** A prefix of its own on a server that others may use too. */
export interface EventStorePlace {
  readonly url: string
  readonly prefix: string
}

export interface BenchDatabase {
  readonly name: string
  readonly url: string
  /** Where a service on this database keeps its files. */
  readonly dataDirectory: string
  /** Default: the log is in the database. */
  readonly eventStore?: EventStorePlace
  drop(): Promise<void>
}

/** Of a real server, for rows that run the service on it. */
export const eventStoreUrl = process.env['EVENTSTORE_URL']

/** Runs everything in a temporary directory that is removed at the end. */
export async function openBench(scale: Scale): Promise<Bench> {
  const directory = mkdtempSync(join(tmpdir(), 'ikw-bench-'))
  const server = await connectPostgres({ dataDirectory: directory })
  const generator = new LoadGenerator()
  return { scale, directory, server, generator, database, databaseWithLog, eventStoreFor, close }

  async function database(name: string): Promise<BenchDatabase> {
    await server.pool.query(`drop database if exists ${name} with (force)`)
    await server.pool.query(`create database ${name}`)
    const url = new URL(server.url)
    url.pathname = name
    const drop = async () => void (await server.pool.query(`drop database if exists ${name} with (force)`))
    return { name, url: url.href, dataDirectory: join(directory, name), drop }
  }

  async function databaseWithLog(name: string): Promise<BenchDatabase> {
    const eventStore = eventStoreFor(name)
    return { ...(await database(name)), ...(eventStore && { eventStore }) }
  }

  async function close(): Promise<void> {
    await generator.close()
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

function eventStoreFor(name: string): EventStorePlace | undefined {
  const prefix = `${name}_${Date.now().toString(36)}_`
  return eventStoreUrl === undefined ? undefined : { url: eventStoreUrl, prefix }
}

/** Connections to a fully migrated database. */
export async function connected({ url }: BenchDatabase): Promise<Postgres> {
  const postgres = await connectPostgres({ url, dataDirectory: '' })
  await migrate(postgres)
  return postgres
}

/** A plain pool, as a peer has it. Its idle connections end when their database is dropped. */
export function peerPool({ url }: BenchDatabase, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => undefined)
  return pool
}
