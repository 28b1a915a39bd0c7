import type pg from 'pg'
import { inTransaction } from '../client/transaction.ts'

/**
 * Throws LeadershipLostError when another process leads by now. When it resolves, no other can begin to lead
 * before the transaction has ended.
 */
export type Fence = (connection: pg.ClientBase) => Promise<void>

/** This process has led, and another one does now: what it still has in hand is the other's work. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError'
  /** As errors of the database have one: nothing is wrong with the work, it is only no longer ours. */
  readonly code = 'leadership_lost'

  constructor(leader: string) {
    super(`this process may not be the ${leader} any more`)
  }
}

/** A leader that is stopped in the middle of a transaction keeps the next one waiting no longer than this. */
const idleTimeoutMs = 10_000

/** `for key share` would let the next election pass: the epoch is no key. */
const fenceStatement = `
  select set_config('idle_in_transaction_session_timeout', '${idleTimeoutMs}', true)
  from leaders where name = $1 and epoch = $2 for share`

/** The fence of the leader of this name in this epoch; `onDeposed` hears of its end first. */
export function fenceOf(name: string, epoch: number, onLost: () => void): Fence {
  return async (connection) => {
    const { rowCount } = await connection.query({
      name: 'fence',
      text: fenceStatement,
      values: [name, epoch],
    })
    if (rowCount === 1) return
    onLost()
    throw new LeadershipLostError(name)
  }
}

/** Does the work in one transaction, behind the fence of a leader if there is one. */
export function fenced<Result>(
  pool: pg.Pool,
  fence: Fence | undefined,
  work: (connection: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async (connection) => {
    await fence?.(connection)
    return work(connection)
  })
}
