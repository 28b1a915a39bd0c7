import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { LeadershipLostError } from './fence.ts'

/** The time between two looks whether a lock is free, and between two signs of life. */
export const lookEveryMs = 1_000
const answerTimeoutMs = 5_000
/** A session that the server has not heard from for this long loses its locks, although it is open. */
const silenceMaxMs = 4_000
/**
 * How long a newly elected leader waits for what the last one has started; less than the time-out for an
 * answer.
 */
const patienceMs = 3_000
/** A leader stops relying on its lock a little before the server releases it. */
const certainMs = 3_000

/**
 * One connection and the locks that it holds, which end with it. It is outside the pool, which would
 * otherwise be one connection short for as long.
 */
export class LockSession {
  readonly client: pg.Client
  readonly #pool: pg.Pool
  readonly #over = new AbortController()
  /** Its locks were held at this time or later. */
  #provedAt = Number.NEGATIVE_INFINITY
  #watching: Promise<void> = Promise.resolve()

  /** Ends the session: nothing that its locks protect may be done any more. */
  readonly finish = () => this.#over.abort()

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.client = new pg.Client({ ...pool.options, query_timeout: answerTimeoutMs })
    this.client.on('error', this.finish)
    this.client.on('end', this.finish)
  }

  /** Aborts when the session is over, and its locks with it. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  async open(): Promise<void> {
    await this.client.connect()
    // A suspended process, or one whose machine is gone, closes no connection.
    await this.client.query(`set idle_session_timeout = ${silenceMaxMs}`)
  }

  /** Begins a term of the leader whose lock is held: waits for what the last one has started; the epoch. */
  async elect(name: string, instance: string): Promise<number> {
    const { rows: own } = await this.client.query<{ pid: number }>('select pg_backend_pid() as pid')
    // If they cannot be ended now, the next election tries again.
    const endSleepers = () => void this.#pool.query(sleepersStatement, [own[0]!.pid]).catch(() => undefined)
    const impatience = setTimeout(endSleepers, patienceMs)
    try {
      const askedAt = performance.now()
      const { rows } = await this.client.query<{ epoch: number }>(
        `insert into leaders (name, epoch, instance) values ($1, 1, $2)
         on conflict (name) do update set epoch = leaders.epoch + 1, instance = $2, since = now()
         returning epoch`,
        [name, instance],
      )
      this.#provedAt = askedAt
      return rows[0]!.epoch
    } finally {
      clearTimeout(impatience)
    }
  }

  /**
   * Gives signs of life until the session is over. A connection may be dead without a word: the server has
   * released its locks by then, or will soon.
   */
  watch(): void {
    this.#watching = this.#watch()
  }

  async #watch(): Promise<void> {
    while (!this.over.aborted) {
      await nextLook(this.over)
      const askedAt = performance.now()
      await this.client.query('select').then(() => (this.#provedAt = askedAt), this.finish)
    }
  }

  /** After a long suspension, a process reads its clock before it learns that its connection is closed. */
  assertHeld(name: string): void {
    const isCertain = performance.now() - this.#provedAt < certainMs
    if (this.over.aborted || !isCertain) throw new LeadershipLostError(name)
  }

  async end(): Promise<void> {
    this.finish()
    await this.#watching
    await this.client.end()
  }
}

/** Resolves early when the signal aborts. */
export async function nextLook(signal: AbortSignal): Promise<void> {
  await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
}

/** A lock belongs to its connection and ends with it. */
export async function tryLock(connection: pg.ClientBase, name: string): Promise<boolean> {
  const text = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked'
  const { rows } = await connection.query<{ locked: boolean }>(text, [lockName(name)])
  return rows[0]!.locked
}

export async function unlock(connection: pg.ClientBase, name: string): Promise<void> {
  await connection.query('select pg_advisory_unlock(hashtextextended($1, 0))', [lockName(name)])
}

function lockName(name: string): string {
  return `leader of ${name}`
}

/**
 * Ends transactions that block $1 while they wait for a client: that client is suspended. No server time-out
 * ends one that sleeps in the middle of a COPY.
 */
const sleepersStatement = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where pid = any(pg_blocking_pids($1)) and wait_event = 'ClientRead'`
