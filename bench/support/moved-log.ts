import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { openEventStoreDbTarget } from '../../infra/event-store/eventstoredb/target.ts'
import { historyOf } from '../../infra/history/store-pages.ts'
import { keptHistory } from '../../infra/postgres/history/history.ts'
import { ownStreams } from '../../services/composition/own-streams.ts'
import { connected, type Bench, type BenchDatabase } from './bench.ts'

/** Copies the log of a database that was filled by SQL to the server of EVENTSTORE_URL, if that is set. */
export async function withLogMoved(bench: Bench, database: BenchDatabase): Promise<BenchDatabase> {
  const eventStore = bench.eventStoreFor(database.name)
  if (!eventStore) return database
  const { pool, close } = await connected(database)
  const source = await openEmbeddedStore({ url: database.url })
  const target = await openEventStoreDbTarget({ ...eventStore, ...ownStreams })
  const { id } = await keptHistory(pool)
  await target.begin(id)
  for await (const events of historyOf(source).pages(0, await source.head())) await target.write(events)
  await target.complete(id)
  await target.close()
  await source.close()
  await close()
  return { ...database, eventStore }
}
