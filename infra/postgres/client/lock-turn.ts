import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'

/** Who waits for less says nothing. */
const tellAfterMs = 1_000
const lookEveryMs = { first: 5, most: 250 }

export interface Patience {
  /** Called once, with one sentence, when the wait takes a moment. */
  readonly tell?: (sentence: string) => void
  /** Left out: however long it takes. */
  readonly mostSeconds?: number
  /** Ends the wait at once. */
  readonly ending?: AbortSignal | undefined
}

/** A lock of a session. */
export interface Lock {
  /** As `pg_advisory_lock` takes it. */
  readonly key: string
  readonly values: readonly unknown[]
  /** What the other process does that has it, for people: `sets up the first merchant`. */
  readonly what: string
}

/** Waits until this connection has the lock: it asks again and again, so that a wait can end. */
export async function lockTurn(
  connection: pg.ClientBase,
  lock: Lock,
  patience: Patience = {},
): Promise<void> {
  const { key, values, what } = lock
  const { tell, mostSeconds = Infinity, ending } = patience
  const text = `select pg_try_advisory_lock(${key}) as locked`
  const begunAt = performance.now()
  let isTold = false
  for (let delayMs = lookEveryMs.first; ; delayMs = Math.min(2 * delayMs, lookEveryMs.most)) {
    const { rows } = await connection.query<{ locked: boolean }>(text, [...values])
    if (rows[0]!.locked) return
    ending?.throwIfAborted()
    const waitedMs = performance.now() - begunAt
    if (waitedMs >= mostSeconds * 1_000)
      throw new Error(`Another process ${what}, and has not ended within ${mostSeconds} s`)
    if (!isTold && waitedMs >= tellAfterMs) {
      isTold = true
      const limit = mostSeconds === Infinity ? '' : ` up to ${mostSeconds} s`
      tell?.(`Another process ${what}; waiting${limit} for it`)
    }
    await pause(delayMs, undefined, { signal: ending }).catch(() => undefined)
  }
}
