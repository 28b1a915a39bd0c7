import type pg from 'pg'

const rowsPerFetch = 5_000

/** A consistent snapshot of the database, whatever is written meanwhile. */
export interface ReadTransaction {
  all<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Batches of a result that may exceed memory, one at a time. */
  batches<Row extends object>(text: string, values?: readonly unknown[]): AsyncGenerator<readonly Row[], void>
}

/**
 * Runs the work in a snapshot. It keeps old rows from being vacuumed and tables from being dropped, so keep
 * it short.
 */
export async function inReadTransaction<Result>(
  pool: pg.Pool,
  look: (moment: ReadTransaction) => Promise<Result>,
): Promise<Result> {
  const connection = await pool.connect()
  try {
    await connection.query('begin isolation level repeatable read read only')
    const result = await look(momentOf(connection))
    await connection.query('rollback')
    connection.release()
    return result
  } catch (error) {
    connection.release(true)
    throw error
  }
}

function momentOf(connection: pg.ClientBase): ReadTransaction {
  return {
    async all<Row extends object>(text: string, values: readonly unknown[] = []) {
      return (await connection.query<Row>(text, [...values])).rows
    },
    async *batches<Row extends object>(text: string, values: readonly unknown[] = []) {
      await connection.query(`declare batches no scroll cursor for ${text}`, [...values])
      for (;;) {
        const { rows } = await connection.query<Row>(`fetch ${rowsPerFetch} from batches`)
        if (rows.length === 0) break
        yield rows
      }
      await connection.query('close batches')
    },
  }
}
