import type { EventStore, StoredEvent } from '../../../packages/kernel/ports.ts'
import type { Metrics } from './metrics.ts'

const name = 'consumer_delay_seconds'
const buckets = [0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 30, 60, 300]

/** The store, with each batch of its consumers timed: how old the first event was when the batch was done. */
export function withDelays<Store extends EventStore>(store: Store, metrics: Metrics): Store {
  const delays = metrics.histogram(
    name,
    'Age of an event when a consumer of this process was done with it',
    buckets,
  )
  const note = ([first]: readonly StoredEvent[]) => {
    // A sandbox clock may be ahead.
    if (first) delays.observe(Math.max(0, Date.now() - Date.parse(first.metadata.at)) / 1_000)
  }
  return {
    ...store,
    subscribe: (options) =>
      store.subscribe({
        ...options,
        handle: async (events, through) => {
          await options.handle(events, through)
          note(events)
        },
      }),
  }
}
