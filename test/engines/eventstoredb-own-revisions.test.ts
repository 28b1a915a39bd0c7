import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { openEventStoreDbTarget } from '../../infra/event-store/eventstoredb/target.ts'
import { RevisionOffsets } from '../../infra/event-store/eventstoredb/streams/revision-offsets.ts'
import { copyHistory } from '../../infra/history/copy.ts'
import { historyOf } from '../../infra/history/store-pages.ts'
import { noStream, type EventStore } from '../../packages/kernel/ports.ts'
import { ownStreams } from '../../services/composition/own-streams.ts'
import { Follower, ids, misplaced, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import type { Log } from '../support/eventstoredb-peer/log.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { appendUntilKnown, peerAndStore, untilItWorks } from '../support/event-store/eventstoredb.ts'
import {
  foreignEvents,
  foreignShapes,
  writeForeign,
  type ForeignShape,
} from '../support/event-store/foreign-events.ts'
import { lawOver } from '../support/law.ts'

const conflict = { name: 'VersionConflictError' }

function write(log: Log, stream: string, shape: ForeignShape = 'in JSON', count = 1): void {
  for (let number = 0; number < count; number++) writeForeign(log, stream, foreignEvents[shape]())
}

async function another(t: Test, { url }: EventStoreDbPeer): Promise<EventStore> {
  const store = await openEventStoreDb({ url, ...ownStreams })
  t.teardown(() => store.close())
  return store
}

function fieldsOf(metadata: Uint8Array): object {
  return JSON.parse(Buffer.from(metadata).toString()) as object
}

async function revisions(store: EventStore, stream: string): Promise<readonly number[]> {
  return (await store.readStream(stream, 0)).map(({ revision }) => revision)
}

t.test('a stream goes on behind what others have written into it, wherever that is', async (t) => {
  const { peer, store } = await peerAndStore(t, ownStreams)
  const other = await another(t, peer)
  const rows = ownStreams.categories.flatMap((category) =>
    foreignShapes.map((shape) => ({ shape, stream: newStream(category), events: newEvents(6) })),
  )
  await lawOver(t, rows, async ({ shape, stream, events }) => {
    write(peer.log, stream, shape, 2)
    t.same(await store.readStream(stream, 0), [], stream)
    t.match(await store.append(stream, noStream, events.slice(0, 2)), { revision: 1 }, stream)
    write(peer.log, stream, shape)
    t.match(await store.append(stream, 1, events.slice(2, 4)), { revision: 3 }, stream)
    write(peer.log, stream, shape)
    t.match(await other.append(stream, 3, events.slice(4)), { revision: 5 }, stream)
    write(peer.log, stream, shape)
  })
  const late = await another(t, peer)
  await lawOver(t, rows, async ({ stream, events }) => {
    await lawOver(t, [store, other, late], async (reader) => {
      const found = await reader.readStream(stream, 0)
      t.same(ids(found), ids(events), stream)
      t.same(misplaced(found), [], stream)
      const [first, last] = [found[0]!, found[5]!]
      t.same(await reader.readAt(last.position), last, stream)
      t.same([first.metadata, last.metadata], [events[0]!.metadata, events[5]!.metadata], stream)
      await t.rejects(reader.append(stream, 3, newEvents(2)), conflict, stream)
    })
  })
  const named = new Set((await store.irregularities()).map(({ stream }) => stream))
  await lawOver(t, rows, ({ stream }) => t.ok(named.has(stream), `${stream} is named`))
})

t.test('while nobody else writes, events are stored as they were before', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const [stream, events] = [newStream('payout'), newEvents(2)]
  await store.append(stream, noStream, events)
  const stored = peer.log.stream(stream)!.map(({ metadata }) => fieldsOf(metadata))
  t.same(
    stored,
    events.map(({ metadata }) => metadata),
  )
})

t.test('what others write is never taken for the event behind which ours belongs', async (t) => {
  const { peer, store } = await peerAndStore(t)
  await lawOver(t, [store, await another(t, peer)], async (appender) => {
    const stream = newStream('payout')
    await store.append(stream, noStream, newEvents(2))
    write(peer.log, stream, 'in JSON', 3)
    const before = peer.log.stream(stream)!.length
    for (const expected of [noStream, 0, 2, 3, 4, 5, 17])
      await t.rejects(appender.append(stream, expected, newEvents(1)), { ...conflict, expected })
    t.equal(peer.log.stream(stream)!.length, before)
  })
})

t.test('an append of unknown outcome is written once, whatever others write meanwhile', async (t) => {
  const { peer, store } = await peerAndStore(t)
  await lawOver(t, ['answer lost', 'position left out', 'called a conflict'] as const, async (fault) => {
    const [stream, events] = [newStream('payout'), newEvents(3)]
    const late = { expected: 1, events: events.slice(2) }
    write(peer.log, stream)
    await store.append(stream, noStream, events.slice(0, 2))
    peer.failNextAppend({ fault })
    await store.append(stream, 1, late.events).catch(() => undefined)
    write(peer.log, stream)
    for (const appender of [store, await another(t, peer)])
      t.match(await appendUntilKnown(appender, stream, late), { revision: 2 }, fault)
    t.same(ids(await store.readStream(stream, 0)), ids(events), fault)
  })
})

t.test('who always writes first is passed, and only for ever is a conflict', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const append = peer.log.append.bind(peer.log)
  await lawOver(t, [1, 3, Infinity], async (times) => {
    const stream = newStream('payout')
    await store.append(stream, noStream, newEvents(1))
    let left = times
    peer.log.append = (name, ...rest) => {
      if (left-- > 0) append(name, peer.log.stream(name)!.length - 1, [foreignEvents['in bytes']()])
      return append(name, ...rest)
    }
    const appending = store.append(stream, 0, newEvents(1))
    if (times === Infinity) await t.rejects(appending, conflict)
    else t.match(await appending, { revision: 1 })
    peer.log.append = append
    t.same(await revisions(store, stream), times === Infinity ? [0] : [0, 1])
  })
})

t.test('a stream that claims revisions that it cannot have is damaged, and no other', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const stream = newStream('payout')
  await store.append(stream, noStream, newEvents(2))
  const { id: _, ...sound } = peer.log.stream(stream)![0]!
  await lawOver(t, [0, 2, 3, 4], async (revision) => {
    const other = newStream('payout')
    await store.append(other, noStream, newEvents(2))
    write(peer.log, other)
    write(peer.log, other)
    const metadata = Buffer.from(JSON.stringify({ ...fieldsOf(sound.metadata), revision }))
    writeForeign(peer.log, other, { ...sound, id: randomUUID(), metadata })
    const reading = store.readStream(other, 0)
    if (revision === 2) t.equal((await reading).length, 3)
    else await t.rejects(reading, { name: 'DamagedStreamError' }, `revision ${revision}`)
  })
  t.same(await revisions(store, stream), [0, 1])
})

t.test('what is known of a stream is forgotten when the log may be an older copy', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const other = await another(t, peer)
  for (const begun of [0, 1]) {
    const [stream, events, theirs] = [newStream('payout'), newEvents(begun), newEvents(1)]
    if (begun > 0) await store.append(stream, noStream, events)
    await store.append(newStream('payout'), noStream, newEvents(1))
    const backup = peer.log.records.at(-1)!.position
    write(peer.log, stream, 'in JSON', 2)
    t.same(ids(await store.readStream(stream, 0)), ids(events), 'what others have written is known')
    // A backup is restored that has all of ours.
    peer.log.goBackTo(backup)
    peer.line.cut()
    await untilItWorks(() => other.append(stream, begun - 1, theirs))
    await untilItWorks(() => store.ping())
    t.same(ids(await store.readStream(stream, begun)), ids(theirs), 'what has come since is seen')
    await t.rejects(store.append(stream, begun - 1, newEvents(1)), conflict, 'two never write at one place')
    t.match(await store.append(stream, begun, newEvents(1)), { revision: begun + 1 })
    t.same(
      await revisions(other, stream),
      Array.from({ length: begun + 2 }, (_, index) => index),
    )
  }
})

t.test('a stream full of events of others is read whole in pages that end in time', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const stream = newStream('payout')
  await store.append(stream, noStream, newEvents(2))
  write(peer.log, stream, 'in bytes', 12_000)
  await store.append(stream, 1, newEvents(1))
  const late = await another(t, peer)
  peer.reads = 0
  t.same(await revisions(late, stream), [0, 1, 2])
  t.ok(peer.reads >= 3, `${peer.reads} reads`)
})

t.test('an event that looks like ours, and is newest, does not make the log an older one', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const [stream, category] = [newStream('payout'), 'payout']
  const follower = new Follower(store, { after: 0, batchSize: 10, categories: [category] })
  await store.append(stream, noStream, newEvents(2))
  write(peer.log, stream, 'in JSON', 2)
  await store.readStream(stream, 0)
  const { id: _, ...sound } = peer.log.stream(stream)![0]!
  writeForeign(peer.log, stream, { ...sound, id: randomUUID() })
  await follower.received(3)
  peer.line.cut()
  await untilItWorks(() => store.ping())
  const elsewhere = newStream('payout')
  t.match(await untilItWorks(() => store.append(elsewhere, noStream, newEvents(1))), { revision: 0 })
  await follower.close()
})

t.test('a stream that others have begun, and that is hidden since, does not go on', async (t) => {
  const { peer, store } = await peerAndStore(t, ownStreams)
  const hiding: Readonly<Record<string, (stream: string) => void>> = {
    'soft-deleted': (stream) => peer.log.delete(stream),
    'cut to nothing': (stream) => peer.log.setMetadata(stream, { $tb: 2 }),
    tombstoned: (stream) => peer.log.tombstone(stream),
  }
  const rows = ownStreams.categories.flatMap((category) =>
    Object.entries(hiding).map(([how, hide]) => ({ how, hide, stream: newStream(category) })),
  )
  const damaged = { name: 'DamagedStreamError' }
  await lawOver(t, rows, async ({ how, hide, stream }) => {
    write(peer.log, stream, 'in JSON', 2)
    t.same(await store.readStream(stream, 0), [])
    hide(stream)
    await t.rejects(store.append(stream, noStream, newEvents(1)), damaged, `${how}: ${stream}`)
    t.equal(peer.log.stream(stream)!.length, 2, `nothing was added to ${stream}`)
    if (how !== 'cut to nothing') await t.rejects(store.readStream(stream, 0), damaged, `${how}: ${stream}`)
  })
})

t.test('a stream of ours that is gone never looks new to a process that has seen it', async (t) => {
  const { peer, store } = await peerAndStore(t, ownStreams)
  const damaged = { name: 'DamagedStreamError' }
  await lawOver(t, ownStreams.categories, async (category) => {
    const stream = newStream(category)
    await store.append(stream, noStream, newEvents(3))
    peer.log.delete(stream)
    await t.rejects(store.readStream(stream, 0), damaged, stream)
    await t.rejects(store.append(stream, noStream, newEvents(1)), damaged, stream)
    t.equal(peer.log.stream(stream)!.length, 3, `nothing was added to ${stream}`)
  })
})

t.test('what a copy has learnt of streams is kept, however many others it writes', async (t) => {
  let doubts = 0
  const offsets = new RevisionOffsets(() => doubts)
  offsets.learn('payout-0', { ours: -1, server: 6 }, 0)
  offsets.learn('payout-1', { ours: 2, server: 4 }, 0)
  for (let number = 2; number < 120_000; number++) offsets.note(`payout-${number}`, { ours: 0, server: 0 }, 0)
  t.equal(offsets.onServer('payout-0', -1), 6)
  offsets.note('payout-1', { ours: 4, server: 6 }, 0)
  for (let number = 2; number < 120_000; number++) offsets.note(`payout-${number}`, { ours: 1, server: 1 }, 0)
  t.equal(offsets.onServer('payout-1', 4), 6)
  doubts++
  t.equal(offsets.onServer('payout-1', 4), 4, 'until nothing is known any more')
})

t.test('many events of others are passed with few reads', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const stream = newStream('payout')
  await store.append(stream, noStream, newEvents(2))
  write(peer.log, stream, 'in bytes', 5_000)
  peer.reads = 0
  t.same(await store.readStream(stream, 2, 1), [])
  t.ok(peer.reads < 12, `${peer.reads} reads`)
  peer.reads = 0
  t.same(await store.readStream(stream, 2, 1), [])
  await store.append(stream, 1, newEvents(1))
  t.ok(peer.reads <= 2, `${peer.reads} reads once they are known`)
})

t.test('a copy leaves behind what others have written, and goes on behind it where it goes to', async (t) => {
  const { peer, store } = await peerAndStore(t, ownStreams)
  const streams = [newStream('payout'), newStream('ledger')]
  for (const expected of [noStream, 1, 3])
    for (const stream of streams) {
      write(peer.log, stream)
      await store.append(stream, expected, newEvents(2))
    }
  const target = await EventStoreDbPeer.start()
  t.teardown(() => target.stop())
  for (const stream of streams) write(target.log, stream, 'in bytes', 2)
  const source = { id: randomUUID(), ...historyOf(store) }
  const progress = { onWritten: () => undefined, onCompared: () => undefined }
  const place = await openEventStoreDbTarget({ url: target.url, ...ownStreams })
  const copied = await copyHistory(source, place, progress)
  await place.complete(source.id)
  await place.close()
  t.match(copied, { written: 12, differences: [], source: copied.target })
  const other = await another(t, target)
  await lawOver(t, streams, async (stream) => {
    t.same(await revisions(other, stream), [0, 1, 2, 3, 4, 5])
    t.match(await other.append(stream, 5, newEvents(1)), { revision: 6 })
    write(target.log, stream)
    t.match(await other.append(stream, 6, newEvents(1)), { revision: 7 })
    t.same(misplaced(await other.readStream(stream, 0)), [])
  })
})
