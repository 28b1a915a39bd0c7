import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { endOverdueReaders, type ReaderLimits } from '../../infra/postgres/finance/roles.ts'
import type { Log, Subscription } from '../../packages/kernel/ports.ts'

export interface WatchedReaders {
  readonly pool: pg.Pool
  readonly log: Log
  readonly everyMs?: number
  readonly limits?: ReaderLimits
}

/** As docs/finance.md says. */
const usual: ReaderLimits = { idleMs: 60_000, transactionMs: 15 * 60_000 }

/** Keeps readers of finance from holding up vacuum, and a rebuild, by transactions that do not end. */
export function watchReaders(options: WatchedReaders): Subscription {
  const { pool, log, everyMs = 10_000, limits = usual } = options
  const stop = new AbortController()
  const { signal } = stop
  const look = async () => {
    while (!signal.aborted) {
      await pause(everyMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const ended = await endOverdueReaders(pool, limits).catch((error: unknown) => {
        log.warn({ error }, 'overdue transactions of finance are not ended')
        return 0
      })
      if (ended > 0) log.info({ sessions: ended }, 'overdue transactions of finance are ended')
    }
  }
  const looking = look()
  const close = async () => {
    stop.abort()
    await looking
  }
  return { close }
}
