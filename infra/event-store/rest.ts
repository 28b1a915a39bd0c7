import { setTimeout as pause } from 'node:timers/promises'

/** From a batch of this many events on, the pause before the next one doubles, at most this often. */
const manyEvents = 100
const gatheredMost = 4

export interface HandledBatch {
  readonly events: number
  /** Of `performance.now()`. */
  readonly startedAt: number
}

/**
 * A batch costs the same round trips however many events it carries, so under load the next one gathers for
 * longer. Ends early when the signal aborts.
 */
export async function restAfter(
  { events, startedAt }: HandledBatch,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  const gatheredMs = everyMs * Math.min(gatheredMost, 1 + events / manyEvents)
  const leftMs = startedAt + gatheredMs - performance.now()
  if (leftMs > 0) await pause(leftMs, undefined, { signal }).catch(() => undefined)
}
