import type { Runtime } from './dependencies.ts'

/** Runs the work while no other process does work of this name; whoever comes second waits. */
export async function alone<Result>(
  { postgres }: Pick<Runtime, 'postgres'>,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const connection = await postgres.pool.connect()
  try {
    await connection.query('select pg_advisory_lock(hashtextextended($1, 0))', [name])
    return await work()
  } finally {
    // Its session ends, and the lock with it.
    connection.release(true)
  }
}
