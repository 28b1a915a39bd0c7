import type pg from 'pg'
import type { ReadModel } from '../../../packages/kernel/projection.ts'
import { fenced, type Fence } from '../consumers/fence.ts'
import type { ProjectionCursor } from './projection-cursor.ts'
import { createIndexes, createTable, readSchema, tableOf } from './tables.ts'
import { createTotals, dropTotals } from './totals.ts'
import { inTransaction } from '../client/transaction.ts'

const publicationLock = 4_719_202_606

/** Which table is behind each read model's view, and which generation is wanted there. */
export interface Published {
  readonly version: number
  readonly generation: number
  readonly wanted: number
}

export async function publications(pool: pg.Pool): Promise<ReadonlyMap<string, Published>> {
  const { rows } = await pool.query<Published & { name: string }>(
    `select name, version, generation, wanted from ${readSchema}.published`,
  )
  return new Map(rows.map(({ name, ...published }) => [name, published]))
}

/**
 * Every read model has a table and a view before any reader starts. Processes that start at the same time
 * wait for the first.
 */
export function publishMissing(
  pool: pg.Pool,
  models: readonly ReadModel[],
  dependents: string,
): Promise<void> {
  return inTransaction(pool, async (connection) => {
    await connection.query('select pg_advisory_xact_lock($1)', [publicationLock])
    await connection.query(`create schema if not exists ${readSchema}`)
    await connection.query(`create table if not exists ${readSchema}.published (
      name text primary key, version integer not null, generation integer not null, wanted integer not null)`)
    const { rows } = await connection.query<{ name: string }>(`select name from ${readSchema}.published`)
    const shown = new Set(rows.map(({ name }) => name))
    for (const model of models) if (!shown.has(model.name)) await publishFirst(connection, model)
    if (shown.size < models.length) await connection.query(dependents)
  })
}

async function publishFirst(connection: pg.ClientBase, model: ReadModel): Promise<void> {
  const table = tableOf(model, 1)
  const statements = [createTable(table), ...createIndexes(model, table), ...createTotals(model, table)]
  await connection.query(statements.join(';'))
  await connection.query(`create view ${table.view} as select * from ${table.name}`)
  await connection.query('insert into checkpoints (name, position) values ($1, 0) on conflict do nothing', [
    table.name,
  ])
  await connection.query(
    `insert into ${readSchema}.published (name, version, generation, wanted) values ($1, $2, 1, 1)`,
    [model.name, model.version],
  )
}

/**
 * Asks the active projector to rebuild a read model beside the published one. A rebuild that is under way has
 * read events as they were, perhaps of who is erased since: another one follows, for all who ask by then. It
 * may be that of a program which folds another version.
 */
export async function requestNewGeneration(pool: pg.Pool, model: ReadModel): Promise<void> {
  const next = 'greatest(wanted, generation + 1)'
  await pool.query(
    `update ${readSchema}.published set wanted = ${next} + case when exists (
       select from pg_tables
       where schemaname = $2 and tablename ~ ('^' || name || '_v[0-9]+_' || ${next} || '$')
     ) then 1 else 0 end
     where name = $1`,
    [model.name, readSchema],
  )
}

export interface Publishing {
  readonly pool: pg.Pool
  readonly fence?: Fence | undefined
  /** SQL of the views that depend on read models. */
  readonly dependents: string
}

/** While this waits for a long-running report, all other reads of the view wait behind it. */
const lockTimeoutMs = 500
/** Nobody waits behind a lock against upkeep. Autovacuum gives way after `deadlock_timeout`, usually 1 s. */
const upkeepTimeoutMs = 10_000

/** Fails without effect when the view is read for too long: it is tried again. */
export function publish({ pool, fence, dependents }: Publishing, track: ProjectionCursor): Promise<void> {
  const { model, generation, table } = track
  return fenced(pool, fence, async (connection) => {
    const older = await olderTables(connection, { name: model.name, shown: table.name })
    await connection.query(`set local lock_timeout = ${upkeepTimeoutMs}`)
    for (const name of older) await connection.query(`lock table ${name} in share update exclusive mode`)
    await connection.query(`set local lock_timeout = ${lockTimeoutMs}`)
    await connection.query(`drop view if exists ${table.view} cascade`)
    await connection.query(`create view ${table.view} as select * from ${table.name}`)
    await connection.query(
      `insert into ${readSchema}.published as p (name, version, generation, wanted) values ($1, $2, $3, $3)
       on conflict (name) do update set version = $2, generation = $3, wanted = greatest($3, p.wanted)`,
      [model.name, model.version, generation],
    )
    for (const name of older) await dropTable(connection, name)
    if (dependents) await connection.query(dependents)
  })
}

async function olderTables(
  connection: pg.ClientBase,
  { name, shown }: { name: string; shown: string },
): Promise<readonly string[]> {
  const { rows } = await connection.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables where schemaname = $1 and tablename ~ ('^' || $2 || '_v[0-9]+_[0-9]+$')`,
    [readSchema, name],
  )
  return rows.map((row) => row.name).filter((table) => table !== shown)
}

/** A table before its totals: everybody locks them in this order. */
async function dropTable(connection: pg.ClientBase, name: string): Promise<void> {
  await connection.query(`drop table ${name} cascade; ${dropTotals(name)}`)
  await connection.query('delete from checkpoints where name = $1', [name])
  await connection.query('delete from parked where consumer = $1', [name])
}
