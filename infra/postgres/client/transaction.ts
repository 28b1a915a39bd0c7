import type pg from 'pg'

/**
 * Runs the work in one transaction: commits all of it, or rolls back and rethrows. `settings`: statements
 * that set what holds for it alone, sent with the first one.
 */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (connection: pg.ClientBase) => Promise<Result>,
  settings = '',
): Promise<Result> {
  const connection = await pool.connect()
  try {
    await connection.query(settings === '' ? 'begin' : `begin; ${settings}`)
    const result = await work(connection)
    await connection.query('commit')
    connection.release()
    return result
  } catch (error) {
    const isGone = await connection.query('rollback').then(
      () => false,
      () => true,
    )
    connection.release(isGone)
    throw error
  }
}
