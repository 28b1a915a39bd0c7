import { NO_STREAM, type AppendExpectedRevision, type EventStoreDBClient } from '@eventstore/db-client'
import type { HistoryTarget } from '../../history/copy.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'
import { clientFor, disconnect } from './client.ts'
import { within } from './errors.ts'
import { copiedEvent, safePosition } from './events.ts'
import { openEventStoreDb } from './store.ts'

/** Between two places that are written down, which is what a reader may have to pass over. */
const eventsPerPlace = 1_000
/** The server takes appends of up to 1 MiB. */
const eventsPerAppend = 100
const appendTimeoutMs = 60_000

/**
 * EventStoreDB, to be filled with a history. Appends go over one call, which the server carries out in order,
 * without waiting for answers; these tell that it did. An error of one fails all: this client does only that.
 */
export async function openEventStoreDbTarget(url: string): Promise<HistoryTarget> {
  const store = await openEventStoreDb({ url })
  const client = clientFor(url)
  const { history: places } = store
  return {
    store,
    id: places.id,
    surelyThrough: places.beforeLast?.position ?? 0,
    begin: (id) => places.note(client, { type: 'HistoryCopyBegun', data: { id } }),
    write: async (events) => {
      for (let from = 0; from < events.length; from += eventsPerPlace) {
        const place = await write(client, events.slice(from, from + eventsPerPlace))
        await places.note(client, { type: 'HistoryPlaced', data: place })
      }
    },
    complete: (id) => places.note(client, { type: 'HistoryCopied', data: { id } }),
    close: async () => {
      await store.close()
      await disconnect(client)
    },
  }
}

async function write(client: EventStoreDBClient, events: readonly StoredEvent[]) {
  const appends = appendsOf(events)
  const written = await Promise.allSettled(
    appends.map((append) => within(appendTimeoutMs, send(client, append))),
  )
  let commit = -1
  for (const result of written) {
    if (result.status === 'rejected') throw result.reason
    if (result.value <= commit) throw new Error('EventStoreDB has not kept the order of what it was sent')
    commit = result.value
  }
  return { position: events.at(-1)!.position, commit }
}

/** Answers the commit position of the last event. */
async function send(client: EventStoreDBClient, events: readonly StoredEvent[]): Promise<number> {
  const { stream, revision } = events[0]!
  const expectedRevision: AppendExpectedRevision = revision === 0 ? NO_STREAM : BigInt(revision - 1)
  const options = { expectedRevision, deadline: appendTimeoutMs, requiresLeader: true }
  const { position } = await client.appendToStream(stream, events.map(copiedEvent), options)
  if (!position) throw new Error(`EventStoreDB does not say where it has written to ${stream}`)
  return safePosition(position.commit)
}

/** Neighbours of one stream go together. */
function appendsOf(events: readonly StoredEvent[]): readonly (readonly StoredEvent[])[] {
  const appends: StoredEvent[][] = []
  for (const event of events) {
    const last = appends.at(-1)
    if (last && last.length < eventsPerAppend && last[0]!.stream === event.stream) last.push(event)
    else appends.push([event])
  }
  return appends
}
