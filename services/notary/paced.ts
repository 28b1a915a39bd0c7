import { setTimeout as pause } from 'node:timers/promises'
import type { EventStore, StoredEvent } from '../../packages/kernel/ports.ts'

export interface Pace {
  /** Part of the time of one processor. */
  readonly share: number
  readonly signal: AbortSignal
}

/** As many as are compared without letting others have the processor: a few milliseconds of work. */
export const eventsAtOnce = 20
/** However long the work took. */
const pauseMostMs = 1_000

/** Pauses after each piece of work, for as long as keeps it within its share; rejects when it is to end. */
export function breathing({ share, signal }: Pace): () => Promise<void> {
  let started = performance.now()
  return async () => {
    const workedMs = performance.now() - started
    await pause(Math.min(pauseMostMs, workedMs * (1 / share - 1)), undefined, { signal })
    started = performance.now()
  }
}

/** So long, and while others work for more than this part of it, they need the processor. */
const lookMs = 20
const busy = 0.5

/** The same, but for a moment only while the process has little else to do. */
export function yielding({ share, signal }: Pace): () => Promise<void> {
  let started = performance.now()
  return async () => {
    const workedMs = performance.now() - started
    const before = performance.eventLoopUtilization()
    await pause(lookMs, undefined, { signal })
    const { utilization } = performance.eventLoopUtilization(before)
    if (utilization > busy) await pause(Math.min(pauseMostMs, workedMs / share), undefined, { signal })
    started = performance.now()
  }
}

/** Reads the log so slowly that others hardly notice. */
async function* paced(
  events: AsyncIterable<readonly StoredEvent[]>,
  pace: Pace,
): AsyncGenerator<readonly StoredEvent[], void> {
  const breathe = breathing(pace)
  for await (const page of events) {
    for (let at = 0; at < page.length; at += eventsAtOnce) {
      yield page.slice(at, at + eventsAtOnce)
      await breathe()
    }
  }
}

type Read = Pick<EventStore, 'readOn'>

/** The same store, whose log is read at this pace. */
export function pacedStore<Store extends Read>(store: Store, pace: Pace): Store {
  return { ...store, readOn: (after: number) => paced(store.readOn(after), pace) }
}
