import type pg from 'pg'
import { keepHistory } from './history.ts'
import type { ReadTransaction } from '../client/read-transaction.ts'
import { inTransaction } from '../client/transaction.ts'

/**
 * What a service knows besides its log and cannot rebuild from it: its consumers' checkpoints, what merchants
 * were told, answers to requests. Everything else in the database is rebuilt, or belongs to one process.
 */
export const bookkeeping = [
  { name: 'checkpoints', where: `name not like 'read.%'` },
  { name: 'parked', where: `consumer not like 'read.%'` },
  { name: 'timer_attempts', where: 'true' },
  { name: 'public_events', where: 'true' },
  { name: 'deliveries', where: 'true' },
  { name: 'webhook_replay_plans', where: 'true' },
  { name: 'bus_journal', where: 'true' },
  { name: 'bus_topic', where: 'true' },
  { name: 'answers', where: 'true' },
  // Without them, personal fields in the log cannot be opened.
  { name: 'subject_keys', where: 'true' },
  // Who was erased: in a copy from before, they are erased again.
  { name: 'erasures', where: 'true' },
  // Events name them by their hash.
  { name: 'images', where: 'true' },
  // The simulated operators' data: a sandbox continues where it was.
  { name: 'sandbox_operations', where: 'true' },
  // The Merkle tree of the log, against which others hold proofs; in order, so that auditors can stream it.
  { name: 'log_keys', where: 'true', order: 'id' },
  { name: 'log_tiles', where: 'true', order: 'level, index' },
  { name: 'log_bundles', where: 'true', order: 'index' },
  { name: 'log_checkpoints', where: 'true', order: 'size' },
  { name: 'log_cosignatures', where: 'true', order: 'size, witness' },
] as const satisfies readonly KeptTable[]

interface KeptTable {
  readonly name: string
  readonly where: string
  readonly order?: string
}

export interface KeptRows {
  readonly table: string
  /** Each row as JSON text. */
  readonly rows: readonly string[]
}

export type Bookkeeping = AsyncIterable<KeptRows>

/** All of it as of one moment. */
export async function* readBookkeeping(moment: ReadTransaction): AsyncGenerator<KeptRows, void> {
  for (const { name, where, order } of bookkeeping as readonly KeptTable[]) {
    const sorted = order === undefined ? '' : ` order by ${order}`
    const query = `select row_to_json(kept)::text as row from ${name} kept where ${where}${sorted}`
    for await (const rows of moment.batches<{ row: string }>(query)) {
      yield { table: name, rows: rows.map(({ row }) => row) }
    }
  }
}

export interface Restoring {
  readonly id: string
  /**
   * What is restored may be older than the world: everything up to this position may have been started
   * outside, so payment rails are asked before they are told anything.
   */
  readonly mayHaveRunThrough?: number
}

/** Replaces what is in a database on which no service runs, in one transaction. */
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
    // Of another log.
    await connection.query('update audit_state set size = null, position = null, root = null')
    await numberOn(connection)
    await connection.query(
      `update checkpoints set attempted = greatest(attempted, $1) where name = 'reactions'`,
      [mayHaveRunThrough],
    )
    await keepHistory(connection, { id, isIncomplete: false })
  })
}

/** All columns except those that PostgreSQL computes from others. */
async function writtenColumns(connection: pg.ClientBase, table: string): Promise<string> {
  const { rows } = await connection.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  return rows[0]!.columns
}

/** The processes that had deliveries in hand do not exist here. */
const settle = 'update deliveries set worker = null where worker is not null'

/** New rows get numbers behind those that were written. */
async function numberOn(connection: pg.ClientBase): Promise<void> {
  const { rows } = await connection.query<{ table: string; column: string }>(
    `select attrelid::regclass::text as table, quote_ident(attname) as column from pg_attribute
     where attrelid = any($1::regclass[]) and attidentity <> ''`,
    [bookkeeping.map(({ name }) => name)],
  )
  for (const { table, column } of rows) {
    const next = `(select coalesce(max(${column}), 0) + 1 from ${table})`
    await connection.query(`select setval(pg_get_serial_sequence($1, $2), ${next}, false)`, [table, column])
  }
}
