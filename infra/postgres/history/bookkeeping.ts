import type pg from 'pg'
import { keepHistory } from './history.ts'
import type { ReadTransaction } from '../client/read-transaction.ts'
import { inTransaction } from '../client/transaction.ts'

/**
 * What a service knows beside its log and cannot make anew from it: how far its consumers are, what merchants
 * were told, what was answered. Everything else in the database is rebuilt, or belongs to one process.
 */
export const bookkeeping = [
  { name: 'checkpoints', where: `name not like 'read.%'` },
  { name: 'parked', where: `consumer not like 'read.%'` },
  { name: 'timer_attempts', where: 'true' },
  { name: 'public_events', where: 'true' },
  { name: 'deliveries', where: 'true' },
  { name: 'webhook_replay_plans', where: 'true' },
  { name: 'bus_journal', where: 'true' },
  { name: 'answers', where: 'true' },
  // Without them nobody can open what is personal in the log.
  { name: 'subject_keys', where: 'true' },
  // The simulated operators' book: a sandbox goes on where it was.
  { name: 'sandbox_operations', where: 'true' },
  // The tree of the log, which others hold proofs against.
  { name: 'log_keys', where: 'true' },
  { name: 'log_tiles', where: 'true' },
  { name: 'log_bundles', where: 'true' },
  { name: 'log_checkpoints', where: 'true' },
  { name: 'log_cosignatures', where: 'true' },
] as const

export interface KeptRows {
  readonly table: string
  /** Each is a row as JSON text. */
  readonly rows: readonly string[]
}

export type Bookkeeping = AsyncIterable<KeptRows>

/** All of it as of one moment. */
export async function* readBookkeeping(moment: ReadTransaction): AsyncGenerator<KeptRows, void> {
  for (const { name, where } of bookkeeping) {
    const query = `select row_to_json(kept)::text as row from ${name} kept where ${where}`
    for await (const rows of moment.batches<{ row: string }>(query)) {
      yield { table: name, rows: rows.map(({ row }) => row) }
    }
  }
}

export interface Restoring {
  readonly id: string
  /**
   * What is restored may be older than the world: then everything up to this position of the log may have
   * been begun, and payment rails are asked before they are told anything.
   */
  readonly mayHaveRunThrough?: number
}

/** Replaces what is in a database that no service runs on, in one transaction. */
export function writeBookkeeping(
  pool: pg.Pool,
  kept: Bookkeeping,
  { id, mayHaveRunThrough = 0 }: Restoring,
): Promise<void> {
  const known = new Set<string>(bookkeeping.map(({ name }) => name))
  return inTransaction(pool, async (connection) => {
    for (const { name, where } of bookkeeping) await connection.query(`delete from ${name} where ${where}`)
    for await (const { table, rows } of kept) {
      if (!known.has(table)) throw new Error(`this program keeps no table ${table}`)
      const columns = await writtenColumns(connection, table)
      const text = `
        insert into ${table} (${columns}) overriding system value
        select ${columns} from json_populate_recordset(null::${table}, $1)`
      await connection.query(text, [`[${rows.join(',')}]`])
    }
    await connection.query(settle)
    await connection.query(
      `update checkpoints set attempted = greatest(attempted, $1) where name = 'reactions'`,
      [mayHaveRunThrough],
    )
    await keepHistory(connection, { id, isIncomplete: false })
  })
}

/** All but those that PostgreSQL makes from others. */
async function writtenColumns(connection: pg.ClientBase, table: string): Promise<string> {
  const { rows } = await connection.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  return rows[0]!.columns
}

/** The processes that had deliveries in hand are not here; new deliveries get numbers of their own. */
const settle = `
  update deliveries set worker = null where worker is not null;
  select setval(pg_get_serial_sequence('deliveries', 'id'), (select coalesce(max(id), 0) + 1 from deliveries), false)`
