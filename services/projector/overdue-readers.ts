import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { endIdleReaders } from '../../infra/postgres/finance/roles.ts'
import type { Log, Subscription } from '../../packages/kernel/ports.ts'

export interface IdleReadersOptions {
  readonly pool: pg.Pool
  readonly log: Log
  readonly everyMs?: number
  /** A transaction of a reader that is idle for longer is ended with its session. */
  readonly idleMs?: number
}

/** Keeps readers of finance from holding up vacuum, and a rebuild, by transactions that they leave open. */
export function watchIdleReaders(options: IdleReadersOptions): Subscription {
  const { pool, log, everyMs = 10_000, idleMs = 60_000 } = options
  const stop = new AbortController()
  const { signal } = stop
  const look = async () => {
    while (!signal.aborted) {
      await pause(everyMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const ended = await endIdleReaders(pool, idleMs).catch((error: unknown) => {
        log.warn({ error }, 'idle transactions of finance are not ended')
        return 0
      })
      if (ended > 0) log.info({ sessions: ended }, 'idle transactions of finance are ended')
    }
  }
  const looking = look()
  const close = async () => {
    stop.abort()
    await looking
  }
  return { close }
}
