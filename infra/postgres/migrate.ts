import type { Knex } from 'knex'
import type pg from 'pg'
import * as events from './migrations/001-events.ts'
import * as snapshots from './migrations/002-snapshots.ts'
import * as answers from './migrations/003-answers.ts'
import * as consumers from './migrations/004-consumers.ts'
import * as publicEvents from './migrations/005-public-events.ts'
import * as deliveries from './migrations/006-deliveries.ts'
import * as sandboxOperations from './migrations/007-sandbox-operations.ts'
import * as leaders from './migrations/008-leaders.ts'
import * as history from './migrations/009-history.ts'
import * as traces from './migrations/010-traces.ts'
import * as answersInHand from './migrations/011-answers-in-hand.ts'
import * as deliveryKey from './migrations/012-delivery-key.ts'
import * as deliveryPlaces from './migrations/013-delivery-places.ts'
import * as jsonAsWritten from './migrations/014-json-as-written.ts'
import * as knownPredecessors from './migrations/015-known-predecessors.ts'
import * as postponedTimers from './migrations/016-postponed-timers.ts'
import * as searches from './migrations/017-searches.ts'
import * as replaysUnderWay from './migrations/018-replays-under-way.ts'
import * as feedOrder from './migrations/019-feed-order.ts'
import * as transparency from './migrations/020-transparency.ts'
import * as subjectKeys from './migrations/021-subject-keys.ts'
import * as busJournal from './migrations/022-bus-journal.ts'
import * as upkeep from './migrations/023-upkeep.ts'
import * as audit from './migrations/024-audit.ts'
import * as erasures from './migrations/025-erasures.ts'
import * as images from './migrations/026-images.ts'
import * as parkedRetries from './migrations/027-parked-retries.ts'
import * as auditState from './migrations/028-audit-state.ts'
import * as positions from './migrations/029-positions.ts'

/**
 * In order. A migration that has run anywhere is never changed; a change is another migration. A function
 * that a later migration replaces stands only in that one.
 */
const migrations = {
  '001-events': events,
  '002-snapshots': snapshots,
  '003-answers': answers,
  '004-consumers': consumers,
  '005-public-events': publicEvents,
  '006-deliveries': deliveries,
  '007-sandbox-operations': sandboxOperations,
  '008-leaders': leaders,
  '009-history': history,
  '010-traces': traces,
  '011-answers-in-hand': answersInHand,
  '012-delivery-key': deliveryKey,
  '013-delivery-places': deliveryPlaces,
  '014-json-as-written': jsonAsWritten,
  '015-known-predecessors': knownPredecessors,
  '016-postponed-timers': postponedTimers,
  '017-searches': searches,
  '018-replays-under-way': replaysUnderWay,
  '019-feed-order': feedOrder,
  '020-transparency': transparency,
  '021-subject-keys': subjectKeys,
  '022-bus-journal': busJournal,
  '023-upkeep': upkeep,
  '024-audit': audit,
  '025-erasures': erasures,
  '026-images': images,
  '027-parked-retries': parkedRetries,
  '028-audit-state': auditState,
  '029-positions': positions,
} satisfies Record<string, { up(knex: Knex): Promise<void> }>

const migrationLock = 4_719_202_603

const migrationSource: Knex.MigrationSource<[string, Knex.Migration]> = {
  getMigrations: async () => Object.entries(migrations),
  getMigrationName: ([name]) => name,
  getMigration: async ([, migration]) => ({ ...migration, down }),
}

async function down(): Promise<void> {
  throw new Error('what cannot be rebuilt is not thrown away: migrations go one way')
}

export interface Migratable {
  readonly pool: pg.Pool
  readonly knex: Knex
}

/** Migrates the tables that cannot be rebuilt. Processes that start at the same time wait for the first. */
export async function migrate({ pool, knex }: Migratable): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock])
    await migrateAlone(knex)
    await client.query('select pg_advisory_unlock($1)', [migrationLock])
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}

async function migrateAlone(knex: Knex): Promise<void> {
  const config: Knex.MigratorConfig = { migrationSource, tableName: 'migrations' }
  // A killed process leaves knex's own lock behind for ever. Ours is released with the connection.
  await knex.migrate.forceFreeMigrationsLock(config)
  await knex.migrate.latest(config)
}
