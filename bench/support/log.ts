import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { ownStreams } from '../../services/composition/own-streams.ts'
import type { BenchDatabase } from './bench.ts'

/** The log of a service on this database, seen from outside. */
export function openLog({ url, eventStore }: BenchDatabase): Promise<EventStore> {
  return eventStore ? openEventStoreDb({ ...eventStore, ...ownStreams }) : openEmbeddedStore({ url })
}

/** How many events of a type a log holds. */
export async function countEvents(log: Pick<EventStore, 'readOn'>, type: string): Promise<number> {
  let count = 0
  for await (const events of log.readOn(0)) count += events.filter((event) => event.type === type).length
  return count
}
