import type { Knex } from 'knex'
import type pg from 'pg'
import { lockTurn, type Patience } from './client/lock-turn.ts'

/**
 * In order. A migration that has run anywhere is never changed; a change is another migration. A function
 * that a later migration replaces stands only in that one. They and knex are three hundred files, loaded when
 * one of them has not run.
 */
const migrations = {
  '001-events': () => import('./migrations/001-events.ts'),
  '002-snapshots': () => import('./migrations/002-snapshots.ts'),
  '003-answers': () => import('./migrations/003-answers.ts'),
  '004-consumers': () => import('./migrations/004-consumers.ts'),
  '005-public-events': () => import('./migrations/005-public-events.ts'),
  '006-deliveries': () => import('./migrations/006-deliveries.ts'),
  '007-sandbox-operations': () => import('./migrations/007-sandbox-operations.ts'),
  '008-leaders': () => import('./migrations/008-leaders.ts'),
  '009-history': () => import('./migrations/009-history.ts'),
  '010-traces': () => import('./migrations/010-traces.ts'),
  '011-answers-in-hand': () => import('./migrations/011-answers-in-hand.ts'),
  '012-delivery-key': () => import('./migrations/012-delivery-key.ts'),
  '013-delivery-places': () => import('./migrations/013-delivery-places.ts'),
  '014-json-as-written': () => import('./migrations/014-json-as-written.ts'),
  '015-known-predecessors': () => import('./migrations/015-known-predecessors.ts'),
  '016-postponed-timers': () => import('./migrations/016-postponed-timers.ts'),
  '017-searches': () => import('./migrations/017-searches.ts'),
  '018-replays-under-way': () => import('./migrations/018-replays-under-way.ts'),
  '019-feed-order': () => import('./migrations/019-feed-order.ts'),
  '020-transparency': () => import('./migrations/020-transparency.ts'),
  '021-subject-keys': () => import('./migrations/021-subject-keys.ts'),
  '022-bus-journal': () => import('./migrations/022-bus-journal.ts'),
  '023-upkeep': () => import('./migrations/023-upkeep.ts'),
  '024-audit': () => import('./migrations/024-audit.ts'),
  '025-erasures': () => import('./migrations/025-erasures.ts'),
  '026-images': () => import('./migrations/026-images.ts'),
  '027-parked-retries': () => import('./migrations/027-parked-retries.ts'),
  '028-audit-state': () => import('./migrations/028-audit-state.ts'),
  '029-positions': () => import('./migrations/029-positions.ts'),
  '030-bus-topic': () => import('./migrations/030-bus-topic.ts'),
} satisfies Record<string, () => Promise<{ up(knex: Knex): Promise<void> }>>

const migrationLock = 4_719_202_603

const migrationSource: Knex.MigrationSource<[string, (typeof migrations)[keyof typeof migrations]]> = {
  getMigrations: async () => Object.entries(migrations),
  getMigrationName: ([name]) => name,
  getMigration: async ([, load]) => ({ up: (await load()).up, down }),
}

async function down(): Promise<void> {
  throw new Error('what cannot be rebuilt is not thrown away: migrations go one way')
}

export interface Migratable {
  readonly pool: pg.Pool
}

/**
 * Migrates the tables that cannot be rebuilt. Processes that start at the same time wait for the first: a
 * large table may take its time.
 */
export async function migrate(
  { pool }: Migratable,
  patience: Omit<Patience, 'mostSeconds'> = {},
): Promise<void> {
  const client = await pool.connect()
  try {
    const lock = { key: '$1', values: [migrationLock], what: 'migrates this database' }
    await lockTurn(client, lock, patience)
    const done = await doneMigrations(client)
    refuseNewer(done)
    if (!Object.keys(migrations).every((name) => done.includes(name))) await migrateAlone(pool)
    await client.query('select pg_advisory_unlock($1)', [migrationLock])
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}

async function doneMigrations(client: pg.PoolClient): Promise<readonly string[]> {
  const { rowCount: tables } = await client.query(`select where to_regclass('migrations') is not null`)
  if (tables === 0) return []
  const { rows } = await client.query<{ name: string }>('select name from migrations')
  return rows.map(({ name }) => name)
}

function refuseNewer(done: readonly string[]): void {
  const unknown = done.filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return
  throw new Error(
    `A newer program has migrated this database: it has ${unknown.join(', ')}, which this one does not know`,
  )
}

const ignore = () => undefined
/** Failures are thrown; knex would also write them to the console. */
const quiet = { warn: ignore, error: ignore, debug: ignore }

async function migrateAlone(pool: pg.Pool): Promise<void> {
  const { default: knex } = await import('knex')
  // It shares the pool's connections.
  const { migrate } = knex({ client: 'pg', connectionPool: pool, log: quiet })
  const config: Knex.MigratorConfig = { migrationSource, tableName: 'migrations' }
  // A killed process leaves knex's own lock behind for ever. Ours is released with the connection.
  await migrate.forceFreeMigrationsLock(config)
  await migrate.latest(config)
}
