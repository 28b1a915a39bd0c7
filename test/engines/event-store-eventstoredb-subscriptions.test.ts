import { status } from '@grpc/grpc-js'
import t from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream, type StoredEvent } from '../../packages/kernel/ports.ts'
import { eventually } from '../support/eventually.ts'
import {
  Follower,
  ids,
  misplaced,
  newCategory,
  newEvents,
  newStream,
} from '../support/event-store/event-store-samples.ts'
import { cutOffLive } from '../support/eventstoredb-peer/failures.ts'
import type { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { appendUntilKnown, newGate, peerAndStore } from '../support/event-store/eventstoredb.ts'

const interruptions: Record<string, (peer: EventStoreDbPeer) => void> = {
  'the server ends a subscription': (peer) => peer.endSubscriptions(),
  'a subscription fails': (peer) => peer.failSubscriptions(status.UNKNOWN, 'Exception was thrown by handler'),
  'the server cancels a subscription': (peer) => peer.failSubscriptions(status.CANCELLED, 'Cancelled'),
  'a subscription loses its connection': (peer) => peer.line.cut(),
}

for (const [circumstance, interrupt] of Object.entries(interruptions)) {
  t.test(`when ${circumstance}, then it goes on without a gap or a duplicate`, async (t) => {
    const { peer, store } = await peerAndStore(t)
    const category = newCategory()
    const stream = newStream(category)
    const follower = new Follower(store, { after: 0, batchSize: 4, categories: [category] })
    const rounds = Array.from({ length: 5 }, () => newEvents(7))
    for (const [round, events] of rounds.entries()) {
      await peer.until(({ subscribedAfter }) => subscribedAfter.length > round)
      await appendUntilKnown(store, stream, { expected: 7 * round - 1, events })
      interrupt(peer)
    }
    await follower.received(35)
    await follower.close()
    t.same(ids(follower.events), ids(rounds.flat()))
    t.same(follower.events, await store.readStream(stream, 0))
  })

  t.test(`given a batch in hand, when ${circumstance}, then the next waits and is behind it`, async (t) => {
    const { peer, store } = await peerAndStore(t)
    const category = newCategory()
    const stream = newStream(category)
    const [started, gate] = [newGate(), newGate()]
    const running = { now: 0, most: 0 }
    const handle = async () => {
      running.most = Math.max(running.most, ++running.now)
      started.open()
      await gate.runtime
      running.now -= 1
    }
    await store.append(stream, noStream, newEvents(3))
    const follower = new Follower(store, { after: 0, batchSize: 2, categories: [category], handle })
    await started.runtime
    interrupt(peer)
    await appendUntilKnown(store, stream, { expected: 2, events: newEvents(5) })
    gate.open()
    await follower.received(8)
    await follower.close()
    t.equal(running.most, 1)
    t.same(follower.events, await store.readStream(stream, 0))
  })
}

t.test('being cut off under load is normal: nothing is missing, doubled or told as an error', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const category = newCategory()
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const followers = [1, 2, 3, 4].map(
    () => new Follower(store, { after: 0, batchSize: 500, categories: [category], everyMs: 25, onError }),
  )
  let isWriting = true
  const cutting = (async () => {
    while (isWriting) {
      await peer.until(({ eventsSent }) => eventsSent > 0 || !isWriting)
      peer.eventsSent = 0
      peer.failSubscriptions(cutOffLive.code, cutOffLive.details)
      await store.head()
    }
  })()
  const streams = Array.from({ length: 100 }, () => newStream(category))
  await Promise.all(
    streams.map(async (stream) => {
      for (let revision = noStream; revision < 19; revision++)
        await store.append(stream, revision, newEvents(1))
    }),
  )
  isWriting = false
  await Promise.all(followers.map((follower) => follower.received(2_000)))
  await Promise.all(followers.map((follower) => follower.close()))
  await store.append(newStream(category), noStream, newEvents(1))
  await cutting
  for (const { events } of followers) {
    t.equal(new Set(ids(events)).size, 2_000)
    t.same(misplaced(events), [])
  }
  t.same(errors, [])
  t.ok(store.counts().timesCutOff > 0, 'which is counted')
})

t.test('given cut-offs before the first event, then each next subscription follows at once', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const [category, events, cutOffs] = [newCategory(), newEvents(1), 12]
  peer.cutOffInTransition(cutOffs)
  const since = performance.now()
  const follower = new Follower(store, { after: 0, batchSize: 10, categories: [category] })
  await peer.until(({ subscribedAfter }) => subscribedAfter.length > cutOffs)
  // Pauses that grow to two seconds would add up to fifteen.
  const tookMs = performance.now() - since
  t.ok(tookMs < 5_000, `${Math.round(tookMs)} ms`)
  t.equal(store.counts().timesCutOff, cutOffs)
  await store.append(newStream(category), noStream, events)
  await follower.received(1)
  await follower.close()
  t.same(ids(follower.events), ids(events))
})

t.test('what this process writes wakes its consumers, however slow the subscription', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const category = newCategory()
  const follower = new Follower(store, { after: 0, batchSize: 10, categories: [category] })
  await store.append(newStream(category), noStream, newEvents(1))
  await follower.received(1)
  await peer.until(({ subscribedAfter }) => subscribedAfter.length > 0)
  peer.holdBack(true)
  const other = await openEventStoreDb({ url: peer.url })
  t.teardown(() => other.close())
  const [theirs, ours] = [newEvents(1), newEvents(2)]
  await other.append(newStream(category), noStream, theirs)
  const since = performance.now()
  await store.append(newStream(category), noStream, ours)
  await follower.received(4)
  // Nobody looks whether the log has grown before five seconds have passed.
  const tookMs = performance.now() - since
  t.ok(tookMs < 4_500, `${Math.round(tookMs)} ms`)
  peer.holdBack(false)
  const last = newEvents(1)
  await store.append(newStream(category), noStream, last)
  await follower.received(5)
  await follower.close()
  t.same(ids(follower.events).slice(1), ids([...theirs, ...ours, ...last]), 'in the order of the log')
})

t.test('a consumer is told how far the log goes when only others write', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const [category, other] = [newCategory(), newCategory()]
  const reached: number[] = []
  const handle = async (_: readonly StoredEvent[], through: number) => void reached.push(through)
  const follower = new Follower(store, { after: 0, batchSize: 10, categories: [category], handle })
  await store.append(newStream(category), noStream, newEvents(2))
  await follower.received(2)
  await store.append(newStream(other), noStream, newEvents(200))
  await eventually(
    () => store.head(),
    (head) => reached.at(-1) === head,
  )
  // The same where a subscription was renewed meanwhile.
  peer.endSubscriptions()
  await store.append(newStream(other), noStream, newEvents(1))
  await eventually(
    () => store.head(),
    (head) => reached.at(-1) === head,
  )
  await follower.close()
  t.equal(follower.events.length, 2)
})

t.test('given a failing handler, when the connection breaks, then the same batch comes again', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const category = newCategory()
  const stream = newStream(category)
  await store.append(stream, noStream, newEvents(9))
  const attempts: (readonly string[])[] = []
  const handle = async (batch: readonly StoredEvent[]) => {
    attempts.push(ids(batch))
    if (attempts.length > 2) return
    peer.line.cut()
    throw new Error('the read model is gone')
  }
  const follower = new Follower(store, { after: 0, batchSize: 3, categories: [category], handle })
  await follower.received(9)
  await follower.close()
  t.same(attempts.slice(1, 3), [attempts[0], attempts[0]])
  t.same(ids(follower.events), ids(await store.readStream(stream, 0)))
})

t.test('given no server, when a subscription starts, then it begins as soon as there is one', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const category = newCategory()
  const stream = newStream(category)
  await store.append(stream, noStream, newEvents(3))
  await peer.line.close()
  const failed = newGate()
  const onError = failed.open
  const follower = new Follower(store, { after: 0, batchSize: 10, categories: [category], onError })
  await failed.runtime
  await peer.line.open()
  await follower.received(3)
  await follower.close()
  t.same(follower.events, await store.readStream(stream, 0))
})

t.test('given no server, when subscription and store are closed, then neither waits for it', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const failed = newGate()
  const follower = new Follower(store, { after: 0, batchSize: 10, onError: failed.open })
  await peer.line.close()
  await failed.runtime
  await follower.close()
  await store.close()
  t.same(follower.events, [])
})

t.test('given many events, when a subscriber is slow, then the rest waits at the server', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const category = newCategory()
  const text = 'x'.repeat(100_000)
  const events = newEvents(300).map((event) => ({ ...event, data: { text } }))
  const stream = newStream(category)
  for (let start = 0; start < 300; start += 10) {
    await store.append(stream, start - 1, events.slice(start, start + 10))
  }
  const [started, gate] = [newGate(), newGate()]
  const handle = async () => {
    started.open()
    await gate.runtime
  }
  const follower = new Follower(store, { after: 0, batchSize: 2, categories: [category], handle })
  await started.runtime
  await store.ping()
  t.ok(peer.eventsSent < 300)
  gate.open()
  await follower.received(300)
  await follower.close()
  t.same(ids(follower.events), ids(events))
})
