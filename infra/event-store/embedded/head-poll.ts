import { setTimeout as pause } from 'node:timers/promises'
import { Bell } from '../bell.ts'
import type { Reader } from './reader.ts'

/** How soon events of other processes are seen; those of this process are told at once. */
const everyMs = 75

/** Looks how far the log goes as long as somebody waits for more. One poll serves all of the process. */
export function polledBell(reader: Pick<Reader, 'head'>): Bell {
  let isPolling = false
  const bell = new Bell(() => void poll())
  return bell

  /** While the server is away nothing is added to the log, so a poll that fails has only to be repeated. */
  async function poll(): Promise<void> {
    if (isPolling) return
    isPolling = true
    while (bell.isAwaited) {
      await pause(everyMs)
      bell.advance(await reader.head().catch(() => 0))
    }
    isPolling = false
  }
}
