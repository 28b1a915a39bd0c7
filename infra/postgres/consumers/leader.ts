import type pg from 'pg'
import { fenceOf, type TermFence } from './fence.ts'
import { LockSession, nextLook, tryLock } from './lock-session.ts'
import { shareNames } from './timer-shares.ts'

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
  readonly fence: TermFence
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
    await nextLook(closing)
  }
}

/** One session and its lock. */
class Candidacy {
  readonly #candidate: Candidate
  readonly #session: LockSession
  readonly #closing: AbortSignal
  #epoch = 0

  constructor(candidate: Candidate, closing: AbortSignal) {
    this.#candidate = candidate
    this.#session = new LockSession(candidate.pool)
    this.#closing = closing
    closing.addEventListener('abort', this.#session.finish)
  }

  /** False when the connection breaks or the campaign is closed before the lock was acquired. */
  async won(): Promise<boolean> {
    const { name, instance } = this.#candidate
    const { client, over } = this.#session
    try {
      await this.#session.open()
      for (; !over.aborted; await nextLook(over)) {
        if (!(await tryLock(client, name))) continue
        this.#epoch = await this.#session.elect(name, instance)
        return true
      }
    } catch {
      // Whatever went wrong, this connection is useless: the next one is tried after a pause.
    }
    return false
  }

  async run(run: Run): Promise<void> {
    const { name } = this.#candidate
    const { over: signal, finish } = this.#session
    this.#session.watch()
    try {
      const fence = fenceOf([{ name, epoch: this.#epoch }], finish)
      await run({ signal, fence, assertLeading: () => this.#session.assertHeld(name) })
    } catch (error) {
      // An error because the term is over is no failure.
      if (!signal.aborted) throw error
    }
  }

  async end(): Promise<void> {
    this.#closing.removeEventListener('abort', this.#session.finish)
    await this.#session.end()
  }
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
    for (const name of [...leaders, ...shareNames]) if (!(await tryLock(connection, name))) return undefined
    return { result: await work() }
  } finally {
    // The locks go with the connection.
    connection.release(true)
  }
}
