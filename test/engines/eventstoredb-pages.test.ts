import t, { type Test } from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import type { NewEvent } from '../../packages/kernel/ports.ts'
import { ownStreams } from '../../services/composition/own-streams.ts'
import { ids, misplaced, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import type { Log } from '../support/eventstoredb-peer/log.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { peerAndStore } from '../support/event-store/eventstoredb.ts'
import { foreignEvents, writeForeign } from '../support/event-store/foreign-events.ts'
import { lawOver } from '../support/law.ts'

/** What the service reads at once, and the server. */
const [page, serverPage] = [5_000, 32]
const damaged = { name: 'DamagedStreamError' }

async function open(t: Test) {
  const { peer, store } = await peerAndStore(t, ownStreams)
  return { peer, store, late: () => openAnother(t, peer.url) }
}

async function openAnother(t: Test, url: string) {
  const store = await openEventStoreDb({ url, ...ownStreams })
  t.teardown(() => store.close())
  return store
}

/** Happens once the server has read so many pieces of the stream. */
function afterPieces(log: Log, stream: string, { count, work }: { count: number; work: () => void }): void {
  const read = log.read.bind(log)
  let left = count
  log.read = (name) => {
    if (name === stream && left-- === 0) work()
    return read(name)
  }
}

const changes: Readonly<Record<string, (log: Log, stream: string) => void>> = {
  'soft-deleted': (log, stream) => log.delete(stream),
  tombstoned: (log, stream) => log.tombstone(stream),
  'cut in the middle': (log, stream) => log.setMetadata(stream, { $tb: page + 500 }),
  'cut to nothing': (log, stream) => log.setMetadata(stream, { $tb: page + 1_000 }),
  'cut to its last event and scavenged': (log, stream) => {
    log.setMetadata(stream, { $maxCount: 1 })
    log.scavenge()
  },
}

t.test('a stream that is damaged while it is read is never shorter than it was', async (t) => {
  const { peer, store, late } = await open(t)
  const events = newEvents(page + 1_000)
  const betweenPages = Math.ceil(page / serverPage)
  const rows = Object.entries(changes).flatMap(([what, change]) => [
    { what, change, count: betweenPages },
    // Between two pieces of one page, only the next append notices that nothing more was shown.
    ...(what === 'cut to nothing' ? [] : [{ what, change, count: 5 }]),
  ])
  await lawOver(t, rows, async ({ what, change, count }) => {
    const stream = newStream(count === 5 ? 'payout' : 'ledger')
    for (let from = 0; from < events.length; from += 500)
      await store.append(stream, from - 1, fresh(events.slice(from, from + 500)))
    const reader = await late()
    afterPieces(peer.log, stream, { count, work: () => change(peer.log, stream) })
    const reading = reader.readStream(stream, 0)
    await t.rejects(reading, damaged, `${what} after ${count} pieces: ${stream}`)
  })
})

/** The same under ids of their own. */
function fresh(events: readonly NewEvent[]): readonly NewEvent[] {
  return newEvents(events.length)
}

t.test('events of others at the edge of a page are passed, wherever a read begins and ends', async (t) => {
  const { peer, store, late } = await open(t)
  await lawOver(t, [page - 2, page - 1, page, page + 1], async (edge) => {
    const [stream, events] = [newStream('payout'), newEvents(edge + 3)]
    for (let from = 0; from < edge; from += 500)
      await store.append(stream, from - 1, events.slice(from, Math.min(edge, from + 500)))
    for (const _ of [1, 2]) writeForeign(peer.log, stream, foreignEvents['in bytes']())
    await store.append(stream, edge - 1, events.slice(edge, edge + 2))
    writeForeign(peer.log, stream, foreignEvents['in JSON']())
    await store.append(stream, edge + 1, events.slice(edge + 2))
    const readers = [store, await late()]
    const parts = [
      [0, Infinity],
      [0, edge],
      [0, edge + 1],
      [edge - 1, 1],
      [edge - 1, 2],
      [edge, 1],
      [edge, 2],
      [edge, page + 7],
      [edge + 1, 9],
      [edge + 3, 1],
    ] as const
    await lawOver(t, readers, (reader) =>
      lawOver(t, parts, async ([from, limit]) => {
        const found = await reader.readStream(stream, from, limit)
        t.same(ids(found), ids(events.slice(from, from + limit)), `${edge}: ${limit} from ${from}`)
        t.same(found.map(({ revision }) => revision).slice(0, 1), from < events.length ? [from] : [])
        if (from === 0) t.same(misplaced(found), [])
      }),
    )
  })
})

t.test('a server that is replaced between two pages does not damage a stream', async (t) => {
  const { peer, store, late } = await open(t)
  const [stream, events] = [newStream('payout'), newEvents(page + 1_000)]
  writeForeign(peer.log, stream, foreignEvents['in JSON']())
  for (let from = 0; from < events.length; from += 500)
    await store.append(stream, from - 1, events.slice(from, from + 500))
  // All of ours stands one further to the front.
  const other = await EventStoreDbPeer.start()
  t.teardown(() => other.stop())
  const copy = await openAnother(t, other.url)
  for (let from = 0; from < events.length; from += 500)
    await copy.append(stream, from - 1, events.slice(from, from + 500))
  const reader = await late()
  const pieces = Math.ceil(page / serverPage)
  afterPieces(peer.log, stream, {
    count: pieces,
    work: () => void peer.line.leadTo(other.line.port),
  })
  t.same(ids(await reader.readStream(stream, 0)), ids(events))
})
