import { setTimeout as pause } from 'node:timers/promises'

/** From a batch of this many events on, the pause before the next one doubles, at most this often. */
const manyEvents = 100
const gatheredMost = 4
/** Whatever a consumer asks for, so that none is a second behind only because it gathers. */
const gatheredMsMost = 500

export interface HandledBatch {
  readonly events: number
  /** Of `performance.now()`. */
  readonly startedAt: number
}

/** The least time from the start of a batch of this many events to the next one. */
export function gatheringMs(events: number, everyMs: number): number {
  return Math.min(gatheredMsMost, everyMs * Math.min(gatheredMost, 1 + events / manyEvents))
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
  const leftMs = startedAt + gatheringMs(events, everyMs) - performance.now()
  if (leftMs > 0) await pause(leftMs, undefined, { signal }).catch(() => undefined)
}
