import t from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream, type NewEvent, type StoredEvent } from '../../packages/kernel/ports.ts'
import {
  Follower,
  ids,
  newCategory,
  newEvents,
  newStream,
} from '../support/event-store/event-store-samples.ts'
import { eventually } from '../support/eventually.ts'
import type { LogRecord } from '../support/eventstoredb-peer/append-rules.ts'
import { peerAndStore, untilItWorks } from '../support/event-store/eventstoredb.ts'

const ofOthers = 100_000
/** The server goes on searching until it hears that this is enough. */
const searchedMost = 20_000

t.test(
  'on a busy server a quiet service does not search what others have written again and again',
  async (t) => {
    const category = newCategory()
    const { peer, store } = await peerAndStore(t, { categories: [category] })
    const ours = newEvents(2)
    const first = await store.append(newStream(category), noStream, ours.slice(0, 1))
    peer.writeSystemEvents(ofOthers)
    t.equal(await store.head(), first.position, 'searched once')
    t.equal(await store.head(), first.position)

    const searched = async (what: string, work: () => Promise<void>) => {
      const before = peer.log.searched
      peer.writeSystemEvents(10)
      await work()
      const count = peer.log.searched - before
      t.ok(count < searchedMost, `${what}: ${count} records searched`)
    }
    await searched('the head', async () => {
      t.equal(await store.head(), first.position)
    })
    const after = first.position
    const follower = new Follower(store, { after, batchSize: 10, categories: [category] })
    await searched('a subscription', () => peer.until(({ subscribedAfter }) => subscribedAfter.length > 0))
    await searched('the next event', async () => {
      await store.append(newStream(category), noStream, ours.slice(1))
      await follower.received(1)
    })
    await searched('the next subscription', async () => {
      peer.endSubscriptions()
      await peer.until(({ subscribedAfter }) => subscribedAfter.length > 1)
    })
    await follower.close()
    t.same(ids(follower.events), ids(ours.slice(1)))
    t.same(ids(await store.readAll(0, 10)), ids(ours), 'and nothing is left out')
  },
)

t.test(
  'what comes before a subscription has begun is delivered, whatever stands in front of it',
  async (t) => {
    const category = newCategory()
    const { peer, store } = await peerAndStore(t, { categories: [category, newCategory()] })
    await store.append(newStream(category), noStream, newEvents(1))
    peer.writeSystemEvents(50)
    for (const _ of [1, 2]) await store.head()
    const follower = new Follower(store, { after: 0, batchSize: 10, categories: [category] })
    await peer.until(({ subscribedAfter }) => subscribedAfter.length > 0)
    const [{ contentType, metadata }] = peer.log.stream(
      `${peer.log.records.find(({ stream }) => stream.startsWith(category))!.stream}`,
    )! as [LogRecord]
    const late = newEvents(3)
    const write = (event: NewEvent) => {
      const { id, type, data } = event
      const bytes = Buffer.from(JSON.stringify(data))
      peer.log.append(newStream(category), noStream, [{ id, type, contentType, data: bytes, metadata }])
    }
    // Just as the next subscription begins, another process writes; and again later.
    const watch = peer.log.watch.bind(peer.log)
    peer.log.watch = (watcher) => {
      peer.log.watch = watch
      for (const event of late.slice(0, 2)) write(event)
      return watch(watcher)
    }
    peer.endSubscriptions()
    await peer.until(({ subscribedAfter }) => subscribedAfter.length > 1)
    write(late[2]!)
    await follower.received(4)
    await follower.close()
    t.same(ids(follower.events).slice(1), ids(late))
  },
)

t.test('what was searched on one server says nothing about another', async (t) => {
  const category = newCategory()
  const { peer, store } = await peerAndStore(t, { categories: [category] })
  const { position } = await store.append(newStream(category), noStream, newEvents(1))
  peer.writeSystemEvents(1_000)
  for (const _ of [1, 2]) await store.head()
  // An older copy that has our event, but not all that others have written since.
  peer.log.goBackTo(position)
  peer.line.cut()
  const late = newEvents(1)
  await untilItWorks(() => store.append(newStream(category), noStream, late))
  t.same(ids(await store.readAll(position, 10)), ids(late))
})

t.test('what others write for longer than a read may take is searched once, and ends nothing', async (t) => {
  const [first, second] = [newCategory(), newCategory()]
  const options = { categories: [first, second] }
  const { peer, store } = await peerAndStore(t, options)
  const ours = newEvents(2)
  const begun = await store.append(newStream(first), noStream, ours.slice(0, 1))
  peer.writeSystemEvents(ofOthers / 2)
  const last = await store.append(newStream(second), noStream, ours.slice(1))
  peer.writeSystemEvents(ofOthers / 2)
  peer.log.stallsAfter = 2_000
  const late = await openEventStoreDb({ url: peer.url, ...options })
  t.teardown(() => late.close())
  t.equal(await late.head(), last.position)
  const searched = async (work: () => Promise<unknown>) => {
    const before = peer.log.searched
    await work()
    return peer.log.searched - before
  }
  const again = await searched(async () => t.equal(await late.head(), last.position))
  t.ok(again < searchedMost, `${again} records searched again`)
  t.same(ids(await late.readAll(0, 10)), ids(ours))
  t.same(ids(await late.readAll(0, 10, { categories: [first] })), ids(ours.slice(0, 1)))
  for (const [index, { position }] of [begun, last].entries())
    t.match(await late.readAt(position), { id: ours[index]!.id })
  t.same(await late.irregularities(), [])

  peer.line.cut()
  await untilItWorks(() => late.ping())
  const afterwards = await searched(async () => t.equal(await late.head(), last.position))
  t.ok(afterwards < searchedMost, `${afterwards} records searched after a broken connection`)
})

t.test('a process that begins behind very much of others goes on from where it was', async (t) => {
  const options = { categories: [newCategory(), newCategory()] }
  const [followed, other] = options.categories as [string, string]
  const { peer, store } = await peerAndStore(t, options)
  peer.writeSystemEvents(ofOthers)
  const { position } = await store.append(newStream(followed), noStream, newEvents(1))
  peer.writeSystemEvents(5_000)
  const { position: head } = await store.append(newStream(other), noStream, newEvents(1))
  peer.writeSystemEvents(5_000)
  peer.log.stallsAfter = 2_000
  const late = await openEventStoreDb({ url: peer.url, ...options })
  t.teardown(() => late.close())
  const before = peer.log.searched
  const reached: number[] = []
  const handle = async (_: readonly StoredEvent[], through: number) => void reached.push(through)
  const consumer = { after: position, batchSize: 10, categories: [followed], handle }
  const follower = new Follower(late, consumer)
  await eventually(
    async () => reached,
    (positions) => positions.includes(head),
  )
  const count = peer.log.searched - before
  t.ok(count < ofOthers, `${count} records searched`)
  const events = newEvents(1)
  await store.append(newStream(followed), noStream, events)
  await follower.received(1)
  await follower.close()
  t.same(ids(follower.events), ids(events))
})
