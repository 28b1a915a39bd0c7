import type pg from 'pg'
import type { Exclusively } from '../../../packages/kernel/ports.ts'

/** Each holds a connection, of which requests need most. */
const atOnce = 2

/** Work that one process does at a time, by an advisory lock of a connection of its own. */
export function exclusively(pool: pg.Pool): Exclusively {
  let running = 0
  return async (name, work) => {
    if (running >= atOnce) return undefined
    running++
    try {
      return await whileLocked(pool, name, work)
    } finally {
      running--
    }
  }
}

async function whileLocked<Result>(
  pool: pg.Pool,
  name: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const connection = await pool.connect()
  try {
    const text = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked'
    const { rows } = await connection.query<{ locked: boolean }>(text, [name])
    return rows[0]!.locked ? await work() : undefined
  } finally {
    // Its session ends, and the lock with it.
    connection.release(true)
  }
}
