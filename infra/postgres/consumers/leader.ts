import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { LeadershipLostError, fenceOf, type Fence } from './fence.ts'

/** Roles that one process holds at a time. */
export const leaders = ['projector', 'processes', 'relay', 'notary', 'auditor'] as const
export type LeaderName = (typeof leaders)[number]

export interface Candidate {
  readonly pool: pg.Pool
  readonly name: LeaderName
  /** The candidate's name, for people. */
  readonly instance: string
}

/**
 * A term of leadership. It may end at any moment; a leader that has not noticed yet is stopped by the fence.
 */
export interface LeaderTerm {
  /** Aborts when the term is over. */
  readonly signal: AbortSignal
  /** Must come first in each of the leader's transactions. */
  readonly fence: Fence
  /** Before effects that no transaction can fence: throws LeadershipLostError unless this process leads. */
  assertLeading(): void
}

export interface Leadership {
  /** Rejects with what `run` threw while leading; resolves after `close`. */
  readonly done: Promise<void>
  /** Aborts `run`, waits for it, and hands over leadership. */
  close(): Promise<void>
}

type Run = (term: LeaderTerm) => Promise<void>

const tryEveryMs = 1_000
const answerTimeoutMs = 5_000
/**
 * A leader that the server has not heard from for this long loses its lock, although its connection is open.
 */
const silenceMaxMs = 4_000
/**
 * How long a newly elected leader waits for what the last one has started; less than the time-out for an
 * answer.
 */
const patienceMs = 3_000
/** A leader stops relying on its lock a little before the server releases it. */
const certainMs = 3_000

/**
 * Runs in one of the candidate processes at a time: the one whose connection holds the advisory lock of this
 * name. When that connection breaks or falls silent, `run` is aborted and a new election starts, as it does
 * when `run` returns.
 */
export function lead(candidate: Candidate, run: Run): Leadership {
  const closing = new AbortController()
  const done = campaign(candidate, run, closing.signal)
  const close = async () => {
    closing.abort()
    await done
  }
  return { done, close }
}

async function campaign(candidate: Candidate, run: Run, closing: AbortSignal): Promise<void> {
  while (!closing.aborted) {
    const candidacy = new Candidacy(candidate, closing)
    try {
      if (await candidacy.won()) await candidacy.run(run)
    } finally {
      await candidacy.end()
    }
    await nextTry(closing)
  }
}

async function nextTry(closing: AbortSignal): Promise<void> {
  await pause(tryEveryMs, undefined, { signal: closing }).catch(() => undefined)
}

/**
 * One connection and its lock. It is outside the pool, which would otherwise be one connection short for a
 * whole term.
 */
class Candidacy {
  readonly #candidate: Candidate
  readonly #client: pg.Client
  readonly #closing: AbortSignal
  readonly #over = new AbortController()
  readonly #finish = () => this.#over.abort()
  #epoch = 0
  /** The lock was held at this time or later. */
  #provedAt = Number.NEGATIVE_INFINITY

  constructor(candidate: Candidate, closing: AbortSignal) {
    this.#candidate = candidate
    this.#client = new pg.Client({ ...candidate.pool.options, query_timeout: answerTimeoutMs })
    this.#client.on('error', this.#finish)
    this.#client.on('end', this.#finish)
    this.#closing = closing
    closing.addEventListener('abort', this.#finish)
  }

  /** False when the connection breaks or the campaign is closed before the lock was acquired. */
  async won(): Promise<boolean> {
    try {
      await this.#client.connect()
      // A suspended process, or one whose machine is gone, closes no connection.
      await this.#client.query(`set idle_session_timeout = ${silenceMaxMs}`)
      while (!this.#over.signal.aborted) {
        if (await tryLock(this.#client, this.#candidate.name)) return await this.#elect()
        await nextTry(this.#over.signal)
      }
    } catch {
      // Whatever went wrong, this connection is useless: the next one is tried after a pause.
    }
    return false
  }

  /** Waits for transactions that the last leader has started; it can start no more. */
  async #elect(): Promise<boolean> {
    const { name, instance, pool } = this.#candidate
    const { rows: own } = await this.#client.query<{ pid: number }>('select pg_backend_pid() as pid')
    // If they cannot be ended now, the next election tries again.
    const endSleepers = () => void pool.query(sleepersStatement, [own[0]!.pid]).catch(() => undefined)
    const impatience = setTimeout(endSleepers, patienceMs)
    try {
      const askedAt = performance.now()
      const { rows } = await this.#client.query<{ epoch: number }>(
        `insert into leaders (name, epoch, instance) values ($1, 1, $2)
         on conflict (name) do update set epoch = leaders.epoch + 1, instance = $2, since = now()
         returning epoch`,
        [name, instance],
      )
      this.#epoch = rows[0]!.epoch
      this.#provedAt = askedAt
      return true
    } finally {
      clearTimeout(impatience)
    }
  }

  async run(run: Run): Promise<void> {
    const { signal } = this.#over
    const watching = this.#watch()
    try {
      const fence = fenceOf(this.#candidate.name, this.#epoch, this.#finish)
      await run({ signal, fence, assertLeading: () => this.#assertLeading() })
    } catch (error) {
      // An error because the term is over is no failure.
      if (!signal.aborted) throw error
    } finally {
      this.#finish()
      await watching
    }
  }

  /** After a long suspension, a process reads its clock before it learns that its connection is closed. */
  #assertLeading(): void {
    const isCertain = performance.now() - this.#provedAt < certainMs
    if (this.#over.signal.aborted || !isCertain) throw new LeadershipLostError(this.#candidate.name)
  }

  /** A connection may be dead without a word: the server has released the lock by then, or will soon. */
  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await nextTry(this.#over.signal)
      const askedAt = performance.now()
      await this.#client.query('select').then(() => (this.#provedAt = askedAt), this.#finish)
    }
  }

  async end(): Promise<void> {
    this.#closing.removeEventListener('abort', this.#finish)
    this.#finish()
    await this.#client.end()
  }
}

/** A leader's lock belongs to its connection and ends with it. */
async function tryLock(connection: pg.ClientBase, name: LeaderName): Promise<boolean> {
  const text = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked'
  const { rows } = await connection.query<{ locked: boolean }>(text, [`leader of ${name}`])
  return rows[0]!.locked
}

/**
 * Takes the place of every leader while the work runs; undefined when a service is running on this database.
 * One that starts meanwhile waits.
 */
export async function withoutLeaders<Result>(
  pool: pg.Pool,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result } | undefined> {
  const connection = await pool.connect()
  try {
    for (const name of leaders) if (!(await tryLock(connection, name))) return undefined
    return { result: await work() }
  } finally {
    // The locks go with the connection.
    connection.release(true)
  }
}

/**
 * Ends transactions that block $1 while they wait for a client: that client is suspended. No server time-out
 * ends one that sleeps in the middle of a COPY.
 */
const sleepersStatement = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where pid = any(pg_blocking_pids($1)) and wait_event = 'ClientRead'`
