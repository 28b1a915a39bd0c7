import { setTimeout as pause } from 'node:timers/promises'

/** A batch of so many events doubles the time in which the next one gathers, up to so many times. */
const manyEvents = 100
const gatheredMost = 4

export interface HandledBatch {
  readonly events: number
  /** Of `performance.now()`. */
  readonly startedAt: number
}

/**
 * Each batch costs the same round trips however many events it carries, so the more there are, the longer the
 * next one gathers. Ends early when the signal aborts.
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
