import type pg from 'pg'
import { planByKey } from '../client/prepared-statements.ts'
import { inTransaction } from '../client/transaction.ts'

/**
 * Throws LeadershipLostError when another process leads by now. Once it resolves, no other can start to lead
 * before the transaction has ended.
 */
export type Fence = (connection: pg.ClientBase) => Promise<void>

/** This process was the leader and another one is now: the work in hand belongs to the other. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError'
  /**
   * With a code, as errors of the database have one: nothing is wrong with the work, it is only no longer
   * ours.
   */
  readonly code = 'leadership_lost'

  constructor(leader: string) {
    super(`this process may not be the ${leader} any more`)
  }
}

/** A leader that is suspended in the middle of a transaction blocks the next one for at most this long. */
const idleTimeoutMs = 10_000

/** `for key share` would not block the next election: the epoch is not a key. */
const fenceStatement = `
  select set_config('idle_in_transaction_session_timeout', '${idleTimeoutMs}', true)
  from leaders where name || ' ' || epoch = any($1) for share`

export interface Term {
  readonly name: string
  readonly epoch: number
}

/** The fence of these terms, which end together; `onLost` is called first when one of them is over. */
export function fenceOf(terms: readonly Term[], onLost: () => void): Fence {
  const values = [terms.map(({ name, epoch }) => `${name} ${epoch}`)]
  return async (connection) => {
    const { rowCount } = await connection.query({ name: 'fence', text: fenceStatement, values })
    if (rowCount === terms.length) return
    onLost()
    throw new LeadershipLostError(terms.map(({ name }) => name).join(', '))
  }
}

/** Runs the work in one transaction, behind a leader's fence if there is one. */
export function fenced<Result>(
  pool: pg.Pool,
  fence: Fence | undefined,
  work: (connection: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, behind(fence, work))
}

/** The same for work whose statements look up rows by key. */
export function fencedByKey<Result>(
  pool: pg.Pool,
  fence: Fence | undefined,
  work: (connection: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, behind(fence, work), planByKey)
}

function behind<Result>(fence: Fence | undefined, work: (connection: pg.ClientBase) => Promise<Result>) {
  return async (connection: pg.ClientBase) => {
    await fence?.(connection)
    return work(connection)
  }
}
