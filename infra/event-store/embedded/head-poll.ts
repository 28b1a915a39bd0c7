import { setTimeout as pause } from 'node:timers/promises'
import { Bell } from '../bell.ts'
import type { Reader } from './reader.ts'

/** How soon events of other processes are seen; this process's own are announced at once. */
const everyMs = 75

/**
 * Polls the head of the log while somebody waits for it to move. One poll serves the whole process, and an
 * append of its own serves as one: it shows that others have written before.
 */
export function polledBell(reader: Pick<Reader, 'head'>): Bell {
  let isPolling = false
  const bell = new Bell(() => void poll())
  return bell

  /** While the server is down nothing can be appended, so a failed poll is simply repeated. */
  async function poll(): Promise<void> {
    if (isPolling) return
    isPolling = true
    while (bell.isAwaited) {
      const restMs = bell.movedAt + everyMs - performance.now()
      await pause(restMs > 0 ? restMs : everyMs)
      if (bell.movedAt + everyMs > performance.now()) continue
      bell.advance(await reader.head().catch(() => 0))
    }
    isPolling = false
  }
}
