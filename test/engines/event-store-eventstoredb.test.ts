import { Metadata, status } from '@grpc/grpc-js'
import t from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream } from '../../packages/kernel/ports.ts'
import {
  Follower,
  ids,
  newCategory,
  newEvent,
  newEvents,
  newStream,
} from '../support/event-store/event-store-samples.ts'
import { eventStoreSuite } from '../support/event-store/event-store-suite.ts'
import type { AppendFault } from '../support/eventstoredb-peer/peer.ts'
import { appendUntilKnown, newGate, peerAndStore, untilItWorks } from '../support/event-store/eventstoredb.ts'
import { lawOver } from '../support/law.ts'

eventStoreSuite('the event store on EventStoreDB', async (t) => (await peerAndStore(t)).store)

const url = process.env['EVENTSTORE_URL']
if (url) eventStoreSuite('the event store on the server of EVENTSTORE_URL', () => openEventStoreDb({ url }))

const unknown = { name: 'OutcomeUnknownError' }

t.test('given appends in flight, when the connection breaks, then all outcomes are unknown', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const gate = newGate()
  const streams = Array.from({ length: 50 }, () => newStream(newCategory()))
  const appends = streams.map((stream) => ({ stream, events: newEvents(3) }))
  for (const _ of appends) peer.failNextAppend({ fault: 'answer late', until: gate.runtime })
  const first = appends.map(({ stream, events }) => store.append(stream, noStream, events))
  const outcomes = Promise.allSettled(first)
  await peer.until(({ appends }) => appends === 50)
  peer.line.cut()
  t.match(
    await outcomes,
    appends.map(() => ({ status: 'rejected', reason: unknown })),
  )
  gate.open()
  await lawOver(t, appends, async ({ stream, events }) => {
    const { revision } = await appendUntilKnown(store, stream, { events })
    t.equal(revision, 2)
    t.same(ids(await store.readStream(stream, 0)), ids(events))
  })
})

const refused = (code: status, details: string, written: boolean): AppendFault => ({
  fault: 'refused',
  code,
  details,
  written,
})

const uncertain: Record<string, AppendFault> = {
  'the connection breaks before the answer': { fault: 'answer lost' },
  'there is no answer in time': { fault: 'answer late', until: new Promise(() => {}) },
  'the server runs out of time after it wrote': refused(status.ABORTED, 'Operation timed out', true),
  'the server is not ready': refused(status.UNAVAILABLE, 'Server Is Not Ready', false),
  'the server cancels the call': refused(status.CANCELLED, 'Cancelled', true),
  'the server fails without a reason': refused(status.UNKNOWN, 'Exception was thrown', true),
}

for (const [circumstance, fault] of Object.entries(uncertain)) {
  t.test(`when ${circumstance}, then the outcome is unknown, and repeats add nothing`, async (t) => {
    const { peer, store } = await peerAndStore(t, { appendTimeoutMs: 500 })
    const stream = newStream(newCategory())
    const [before, events] = [newEvents(2), newEvents(2)]
    await store.append(stream, noStream, before)
    peer.failNextAppend(fault)
    await t.rejects(store.append(stream, 1, events), unknown)
    const { revision } = await appendUntilKnown(store, stream, { expected: 1, events })
    t.equal(revision, 3)
    t.same(ids(await store.readStream(stream, 0)), ids([...before, ...events]))
  })
}

const imprecise: Record<string, AppendFault> = {
  'called a conflict': { fault: 'called a conflict' },
  'answered without a position': { fault: 'position left out' },
}

for (const [circumstance, fault] of Object.entries(imprecise)) {
  t.test(`given a written append, when it is ${circumstance}, then it is read back`, async (t) => {
    const { peer, store } = await peerAndStore(t)
    const stream = newStream(newCategory())
    const events = newEvents(3)
    peer.failNextAppend(fault)
    const appended = await store.append(stream, noStream, events)
    const stored = await store.readStream(stream, 0)
    t.same(ids(stored), ids(events))
    t.same(appended, { revision: 2, position: stored[2]?.position })
  })
}

t.test(
  'an append above the limit of the server, or of a call, is too large, and harms no other',
  async (t) => {
    const { store } = await peerAndStore(t)
    const small = newStream(newCategory())
    const others = store.append(small, noStream, newEvents(3))
    await lawOver(t, [2, 20], async (count) => {
      const stream = newStream(newCategory())
      const events = Array.from({ length: count }, () => newEvent({ text: 'x'.repeat(600_000) }))
      await t.rejects(store.append(stream, noStream, events), { name: 'AppendTooLargeError' })
      t.same(await store.readStream(stream, 0), [])
      await store.append(stream, noStream, events.slice(0, 1))
    })
    t.match(await others, { revision: 2 })
  },
)

t.test('the clocks of service and server may differ', async (t) => {
  const { peer, store } = await peerAndStore(t)
  await lawOver(t, [-3_600_000, 3_600_000], async (aheadMs) => {
    peer.log.clockAheadMs = aheadMs
    t.match(await store.append(newStream(newCategory()), noStream, newEvents(1)), { revision: 0 })
  })
})

t.test('given two stores, when one loses its connection, then appends of the other go on', async (t) => {
  const [broken, sound] = [await peerAndStore(t), await peerAndStore(t)]
  const gate = newGate()
  for (const { peer } of [broken, sound]) peer.failNextAppend({ fault: 'answer late', until: gate.runtime })
  const lost = t.rejects(broken.store.append(newStream(newCategory()), noStream, newEvents(1)), unknown)
  const kept = sound.store.append(newStream(newCategory()), noStream, newEvents(1))
  await Promise.all([broken, sound].map(({ peer }) => peer.until(({ appends }) => appends === 1)))
  broken.peer.line.cut()
  await lost
  gate.open()
  t.match(await kept, { revision: 0 })
})

t.test('when the url asks for conflicts as results, then they are thrown all the same', async (t) => {
  const { peer } = await peerAndStore(t)
  const store = await openEventStoreDb({ url: `${peer.url}&throwOnAppendFailure=false` })
  t.teardown(() => store.close())
  const stream = newStream(newCategory())
  await store.append(stream, noStream, newEvents(1))
  await t.rejects(store.append(stream, noStream, newEvents(1)), { name: 'VersionConflictError', stream })
})

t.test('when events cannot be stored, then the append is a mistake of the program', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const [id, type] = [
    { ...newEvent(), id: 'evt_1' },
    { ...newEvent(), type: '$metadata' },
  ]
  for (const events of [[], [id], [type], [newEvent(circular)], [newEvent({ amount: 1n })]]) {
    await t.rejects(store.append(newStream(newCategory()), noStream, events), TypeError)
  }
  await t.rejects(store.append('$users', noStream, newEvents(1)), TypeError)
  t.equal(peer.appends, 0)
})

t.test('when the store is closed, then accepted appends are answered, and others refused', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const gate = newGate()
  peer.failNextAppend({ fault: 'answer late', until: gate.runtime })
  const accepted = store.append(newStream(newCategory()), noStream, newEvents(1))
  await peer.until(({ appends }) => appends === 1)
  const closed = store.close()
  await t.rejects(store.append(newStream(newCategory()), noStream, newEvents(1)), {
    name: 'StoreOverloadedError',
  })
  gate.open()
  t.match(await accepted, { revision: 0 })
  await closed
})

t.test('given events of the server itself, when the log is read, then they do not count', async (t) => {
  const { store } = await peerAndStore(t)
  t.equal(await store.head(), 0)
  t.same(await store.readAll(0, 10), [])
  const stream = newStream(newCategory())
  const { position } = await store.append(stream, noStream, newEvents(1))
  t.equal(await store.head(), position)
  t.same(
    (await store.readAll(0, 10)).map(({ stream }) => stream),
    [stream],
  )
})

t.test('given many newer events of the server, when the head is read, then it is ours', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const { position } = await store.append(newStream(newCategory()), noStream, newEvents(1))
  peer.writeSystemEvents(170)
  t.equal(await store.head(), position)
})

t.test(
  'given an event of another program, when it is asked for by its position, then there is none',
  async (t) => {
    const { peer, store } = await peerAndStore(t)
    const before = await store.append(newStream(newCategory()), noStream, newEvents(1))
    const data = Buffer.from('text')
    const event = { id: newEvent().id, type: 'Foreign', contentType: 'application/octet-stream', data }
    peer.log.append('greetings-1', noStream, [{ ...event, metadata: data }])
    const foreign = peer.log.records.at(-1)!.position
    const behind = await store.append(newStream(newCategory()), noStream, newEvents(1))
    t.ok(before.position < foreign && foreign < behind.position)
    t.equal(await store.readAt(foreign), undefined)
    t.match(await store.readAt(behind.position), { position: behind.position })
  },
)

t.test('given a position beyond the safe integers, when it is read, then that is an error', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const stream = newStream(newCategory())
  peer.log.skipTo(Number.MAX_SAFE_INTEGER + 1)
  const reason = /position 9007199254740992 is not a safe integer/
  await t.rejects(store.append(stream, noStream, newEvents(1)), reason)
  await t.rejects(store.readStream(stream, 0), reason)
  await t.rejects(store.head(), reason)
})

t.test('when the server goes away and comes back, then reads and pings fail and succeed again', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const stream = newStream(newCategory())
  await store.append(stream, noStream, newEvents(2))
  await peer.line.close()
  await t.rejects(store.readStream(stream, 0))
  await t.rejects(store.readAll(0, 10))
  await t.rejects(store.ping())
  await peer.line.open()
  t.equal((await untilItWorks(() => store.readStream(stream, 0))).length, 2)
  await t.resolves(store.ping())
})

t.test('given a cluster, when its leader goes away and comes back, then all goes on', async (t) => {
  const { peer } = await peerAndStore(t)
  const store = await openEventStoreDb({
    url: peer.url.replace('esdb:', 'esdb+discover:'),
    appendTimeoutMs: 300,
  })
  t.teardown(() => store.close())
  const category = newCategory()
  const follower = new Follower(store, { after: 0, batchSize: 10, categories: [category] })
  const [stream, first, second] = [newStream(category), newEvents(2), newEvents(2)]
  await store.append(stream, noStream, first)
  await follower.received(2)
  await peer.line.close()
  await t.rejects(store.append(stream, 1, second), unknown)
  await peer.line.open()
  await appendUntilKnown(store, stream, { expected: 1, events: second })
  await follower.received(4)
  await follower.close()
  t.same(ids(follower.events), ids([...first, ...second]))
})

t.test(
  'given a cluster, when another node has become the leader, then a repeated append finds it',
  async (t) => {
    const [former, leader] = [await peerAndStore(t), await peerAndStore(t)]
    const metadata = new Metadata()
    metadata.set('exception', 'not-leader')
    metadata.set('leader-endpoint-host', '127.0.0.1')
    metadata.set('leader-endpoint-port', String(leader.peer.line.port))
    const details = 'Leader info available'
    former.peer.failNextAppend({
      fault: 'refused',
      code: status.NOT_FOUND,
      details,
      metadata,
      written: false,
    })
    const [stream, events] = [newStream(newCategory()), newEvents(2)]
    await t.rejects(former.store.append(stream, noStream, events), unknown)
    await appendUntilKnown(former.store, stream, { events })
    t.same(ids(await leader.store.readStream(stream, 0)), ids(events))
    t.equal(former.peer.appends, 1)
  },
)
