import type pg from 'pg'

/** Does the work in one transaction: all of it happens, or nothing and what it throws is thrown. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (connection: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  const connection = await pool.connect()
  try {
    await connection.query('begin')
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
