import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { ConfigurationError } from '../../infra/configuration.ts'
import type { EventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { keepHistory, keptHistory, type KeptHistory } from '../../infra/postgres/history/history.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'

/** A node of an EventStoreDB cluster may not know yet what its leader has told a consumer. */
const retries = { tries: 5, everyMs: 1_000 }

/**
 * Throws a sentence unless the log and the database beside it belong to one history: a checkpoint of another
 * history would repeat or skip payouts and webhooks (docs/decisions/0008).
 */
export async function assertSameHistory(pool: pg.Pool, store: EventStore | EventStoreDb): Promise<void> {
  const kept = await keptHistory(pool)
  if (kept.isIncomplete) throw new ConfigurationError(incomplete('The database of POSTGRES_URL'))
  await expectReached(kept, store)
  if ('history' in store) await agreeWith(store, { kept, pool })
}

interface Kept {
  readonly kept: KeptHistory
  readonly pool: pg.Pool
}

async function agreeWith(store: EventStoreDb, { kept, pool }: Kept): Promise<void> {
  if (!store.history.isComplete) throw new ConfigurationError(incomplete('The store of EVENTSTORE_URL'))
  await store.beginHistory(kept.id)
  const { id } = store.history
  if (id === undefined || id === kept.id) return
  if (kept.hasEvents || kept.hasRun) throw new ConfigurationError(another)
  if ((await store.head()) > 0) throw new ConfigurationError(noBookkeeping)
  await keepHistory(pool, { id, isIncomplete: false })
}

async function expectReached({ reached }: KeptHistory, store: EventStore): Promise<void> {
  let left = 'history' in store ? retries.tries : 0
  for (; reached > 0; left--) {
    const head = await store.head()
    if (head >= reached) return
    if (left === 0) throw new ConfigurationError(endsBefore(head, reached))
    await pause(retries.everyMs)
  }
}

const incomplete = (what: string) =>
  `${what} holds a history that was not copied or restored to its end: run that command again`

const another =
  'The databases of EVENTSTORE_URL and POSTGRES_URL belong to different histories: set both to those of one, ' +
  'or move a history with `ikw events copy`'

const noBookkeeping =
  'The database of POSTGRES_URL is new, but the log of EVENTSTORE_URL is not: what was delivered and paid is ' +
  'not known here. Use the database that belongs to it, its backup, or `ikw events copy --to-postgres`'

const endsBefore = (head: number, reached: number) =>
  `The log ends at position ${head}, but its consumers have come to ${reached}: EVENTSTORE_URL or POSTGRES_URL ` +
  'names another history, or an older state of it'
