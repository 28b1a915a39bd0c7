import type pg from 'pg'
import { planByKey, prepared } from '../client/prepared-statements.ts'
import { inTransaction } from '../client/transaction.ts'

/**
 * Throws LeadershipLostError when another process leads by now. Once it resolves, no other can start to lead
 * before the transaction has ended.
 */
export type Fence = (connection: pg.ClientBase) => Promise<void>

/** One that a single statement can be written behind. */
export interface TermFence extends Fence {
  /** As `leaders` knows its terms. */
  readonly terms: readonly string[]
  /** One of them is over. */
  readonly lost: () => LeadershipLostError
}

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
const idleTimeout = 'idle_in_transaction_session_timeout'

/** `for key share` would not block the next election: the epoch is not a key. */
const ofTerms = `from leaders where name || ' ' || epoch = any($1) for share`

const fenceStatement = `
  select set_config('${idleTimeout}', '${idleTimeoutMs}', true) ${ofTerms}`

export interface Term {
  readonly name: string
  readonly epoch: number
}

/** The fence of these terms, which end together; `onLost` is called first when one of them is over. */
export function fenceOf(given: readonly Term[], onLost: () => void): TermFence {
  const terms = given.map(({ name, epoch }) => `${name} ${epoch}`)
  const lost = () => {
    onLost()
    return new LeadershipLostError(given.map(({ name }) => name).join(', '))
  }
  const fence = async (connection: pg.ClientBase) => {
    const { rowCount } = await connection.query({ name: 'fence', text: fenceStatement, values: [terms] })
    if (rowCount !== terms.length) throw lost()
  }
  return Object.assign(fence, { terms, lost })
}

/** From $2 on are its own parameters, and it changes nothing unless `held.goes_on`. */
export interface FencedStatement {
  readonly text: string
  readonly values: readonly unknown[]
  /** Queries that it uses: `name as (…)`. */
  readonly named?: readonly string[]
}

/**
 * A single statement behind a fence: one round trip in place of the four of a transaction. Returns how many
 * rows it has changed.
 */
export async function fencedStatement(
  client: Pick<pg.ClientBase, 'query'>,
  fence: TermFence | undefined,
  { text: change, values, named = [] }: FencedStatement,
): Promise<number> {
  const queries = [
    `terms as materialized (select ${ofTerms})`,
    'held as materialized (select count(*) = cardinality($1::text[]) as goes_on from terms)',
    ...named,
    `changed as (${change} returning 1)`,
  ]
  const text = `
    with ${queries.join(',\n    ')}
    select goes_on, (select count(*) from changed)::integer as changed from held`
  const query = prepared(text, [fence?.terms ?? [], ...values])
  const { rows } = await client.query<{ goes_on: boolean; changed: number }>(query)
  const [{ goes_on: goesOn, changed }] = rows as [(typeof rows)[0]]
  if (fence && !goesOn) throw fence.lost()
  return changed
}

/** Runs the work in one transaction, behind a leader's fence if there is one. */
export function fenced<Result>(
  pool: pg.Pool,
  fence: Fence | undefined,
  work: (connection: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, behind(fence, work))
}

/** The same for statements that look up rows by key; the first one is sent together with the fence. */
export function fencedByKey(
  pool: pg.Pool,
  fence: TermFence | undefined,
  first: FencedStatement,
  work: (connection: pg.ClientBase, changed: number) => Promise<void>,
): Promise<void> {
  const whole = async (connection: pg.ClientBase) =>
    work(connection, await fencedStatement(connection, fence, first))
  return inTransaction(pool, whole, `set local ${idleTimeout} = ${idleTimeoutMs}; ${planByKey}`)
}

function behind<Result>(fence: Fence | undefined, work: (connection: pg.ClientBase) => Promise<Result>) {
  return async (connection: pg.ClientBase) => {
    await fence?.(connection)
    return work(connection)
  }
}
