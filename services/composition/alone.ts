import type { Postgres } from '../../infra/postgres/client/connect.ts'
import { lockTurn, type Lock, type Patience } from '../../infra/postgres/client/lock-turn.ts'

export interface Turn extends Pick<Lock, 'what'>, Omit<Patience, 'tell'> {
  /** Of all work of one name, one process does its own at a time. */
  readonly name: string
}

/** Runs the work while no other process does work of this name; whoever comes second waits, and says so. */
export async function alone<Result>(
  { postgres }: { readonly postgres: Pick<Postgres, 'pool'> },
  { name, what, ...patience }: Turn,
  work: () => Promise<Result>,
): Promise<Result> {
  const connection = await postgres.pool.connect()
  try {
    const lock = { key: 'hashtextextended($1, 0)', values: [name], what }
    await lockTurn(connection, lock, { tell: tellWaiting, ...patience })
    return await work()
  } finally {
    // Its session ends, and the lock with it.
    connection.release(true)
  }
}

/** For whoever wonders why nothing happens. */
export function tellWaiting(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
}
