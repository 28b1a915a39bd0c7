import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

export interface Leadership {
  /** Rejects with what `run` threw while it was leading; resolves once it is closed. */
  readonly done: Promise<void>
  /** Aborts `run`, waits for it, and lets another process lead. */
  close(): Promise<void>
}

type Run = (signal: AbortSignal) => Promise<void>

const tryEveryMs = 1_000
const answerTimeoutMs = 5_000

/**
 * Of all processes that ask for it, one at a time runs: the one whose connection holds the lock of this name.
 * When that connection breaks, `run` is aborted and the election starts over; so it does when `run` returns
 * by itself.
 */
export function lead(pool: pg.Pool, name: string, run: Run): Leadership {
  const closing = new AbortController()
  const done = campaign({ pool, name, run, closing: closing.signal })
  const close = async () => {
    closing.abort()
    await done
  }
  return { done, close }
}

interface Campaign {
  readonly pool: pg.Pool
  readonly name: string
  readonly run: Run
  readonly closing: AbortSignal
}

async function campaign({ pool, name, run, closing }: Campaign): Promise<void> {
  while (!closing.aborted) {
    const reign = new Reign(pool, closing)
    try {
      if (await reign.won(name)) await reign.run(run)
    } finally {
      await reign.end()
    }
    await nextTry(closing)
  }
}

async function nextTry(closing: AbortSignal): Promise<void> {
  await pause(tryEveryMs, undefined, { signal: closing }).catch(() => undefined)
}

/**
 * One connection and what it holds. It is none of the pool's, which would have one less for as long as a
 * reign lasts.
 */
class Reign {
  readonly #client: pg.Client
  readonly #closing: AbortSignal
  readonly #over = new AbortController()
  readonly #finish = () => this.#over.abort()

  constructor(pool: pg.Pool, closing: AbortSignal) {
    this.#client = new pg.Client({ ...pool.options, query_timeout: answerTimeoutMs })
    this.#client.on('error', this.#finish)
    this.#client.on('end', this.#finish)
    this.#closing = closing
    closing.addEventListener('abort', this.#finish)
  }

  /** False when the connection breaks or the campaign is closed before the lock was got. */
  async won(name: string): Promise<boolean> {
    try {
      await this.#client.connect()
      while (!this.#over.signal.aborted) {
        if (await this.#locked(name)) return true
        await nextTry(this.#over.signal)
      }
    } catch {
      // Whatever it was, the connection is of no use: the next one is tried after a pause.
    }
    return false
  }

  async #locked(name: string): Promise<boolean> {
    const text = `select pg_try_advisory_lock(hashtextextended($1, 0)) as locked`
    const { rows } = await this.#client.query<{ locked: boolean }>(text, [`leader of ${name}`])
    return rows[0]?.locked ?? false
  }

  async run(run: Run): Promise<void> {
    const { signal } = this.#over
    const watching = this.#watch()
    try {
      await run(signal)
    } catch (error) {
      // What fails because its reign is over has not failed.
      if (!signal.aborted) throw error
    } finally {
      this.#finish()
      await watching
    }
  }

  /**
   * A connection may be dead without saying so: then the server has given the lock to another, or will soon.
   */
  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await nextTry(this.#over.signal)
      await this.#client.query('select').catch(this.#finish)
    }
  }

  async end(): Promise<void> {
    this.#closing.removeEventListener('abort', this.#finish)
    this.#finish()
    await this.#client.end()
  }
}
