import t, { type Test } from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream } from '../../packages/kernel/ports.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { firstMerchant } from '../../services/composition/first-merchant.ts'
import {
  Follower,
  ids,
  newCategory,
  newEvents,
  newStream,
} from '../support/event-store/event-store-samples.ts'
import { eventually } from '../support/eventually.ts'
import { cutOffLive } from '../support/eventstoredb-peer/failures.ts'
import type { Log } from '../support/eventstoredb-peer/log.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { appendUntilKnown } from '../support/event-store/eventstoredb.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { ServiceApart } from '../support/processes/service-apart.ts'

const wentBack = {
  name: 'LogWentBackError',
  message: /^EventStoreDB does not have the event at position \d+ /,
}

async function open(t: Test) {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  const lost: Error[] = []
  const store = await openEventStoreDb({ url: peer.url, onLogWentBack: (error) => lost.push(error) })
  t.teardown(() => store.close())
  return { peer, store, lost }
}

/** The server is gone meanwhile. */
async function whileAway({ line }: EventStoreDbPeer, work: () => void): Promise<void> {
  await line.close()
  work()
  await line.open()
}

const meanwhile: Readonly<Record<string, (log: Log, stream: string) => void>> = {
  'and nobody has written since': () => undefined,
  'and others have written as much since': (log, stream) => {
    const written = log.stream(stream)!
    for (const { id, ...event } of [...written, ...written, ...written]) {
      const other = `${stream}-of-others`
      log.append(other, (log.stream(other)?.length ?? 0) - 1, [{ ...event, id: `other-${id}` }])
    }
  },
  'and the stream has gone on differently': (log, stream) => {
    for (const event of newEvents(10)) {
      const [{ contentType, metadata }] = log.stream(stream) as [(typeof log.records)[number]]
      const { id, type } = event
      const data = Buffer.from('{}')
      log.append(stream, log.stream(stream)!.length - 1, [{ id, type, contentType, data, metadata }])
    }
  },
}

for (const [what, happen] of Object.entries(meanwhile)) {
  t.test(`an older copy is noticed ${what}, and nothing is done about what is gone`, async (t) => {
    const { peer, store, lost } = await open(t)
    const stream = newStream(newCategory())
    const follower = new Follower(store, { after: 0, batchSize: 100 })
    const events = newEvents(10)
    await store.append(stream, noStream, events)
    await follower.received(10)
    const position = peer.log.stream(stream)![4]!.position
    await whileAway(peer, () => {
      peer.log.goBackTo(position)
      happen(peer.log, stream)
    })
    const written = peer.log.records.length
    await eventually(
      async () => lost.length,
      (count) => count > 0,
    )
    t.match(lost[0], wentBack)
    await t.rejects(store.append(stream, 9, newEvents(1)), wentBack)
    await t.rejects(store.append(newStream(newCategory()), noStream, newEvents(1)), wentBack)
    await follower.close()
    t.same(
      ids(follower.events),
      ids(events),
      'what took the place of events that are gone is not handed over',
    )
    t.equal(peer.log.records.length, written)
  })
}

// The connection stays, so nothing is in doubt: a subscription may be served by another node than its reads.
t.test('a subscription that another server carries, which has less, is noticed', async (t) => {
  const { peer, store, lost } = await open(t)
  const stream = newStream(newCategory())
  const follower = new Follower(store, { after: 0, batchSize: 100 })
  await store.append(stream, noStream, newEvents(10))
  await follower.received(10)
  const subscriptions = peer.subscribedAfter.length
  peer.failSubscriptions(cutOffLive.code, cutOffLive.details)
  await peer.until(({ subscribedAfter }) => subscribedAfter.length > subscriptions)
  peer.log.goBackTo(peer.log.stream(stream)![4]!.position)
  await eventually(
    async () => lost.length,
    (count) => count > 0,
  )
  t.match(lost[0], wentBack)
  await follower.close()
})

const done: Readonly<Record<string, (log: Log, stream: string) => void>> = {
  'nothing was done': () => undefined,
  'it was deleted': (log, stream) => log.delete(stream),
  'it was tombstoned': (log, stream) => log.tombstone(stream),
  'it was cut': (log, stream) => log.setMetadata(stream, { $tb: 10 }),
  'all but its last event were hidden': (log, stream) => log.setMetadata(stream, { $maxCount: 1 }),
}

for (const [what, inflict] of Object.entries(done)) {
  t.test(`a server that comes back is the same one when ${what} to the newest stream`, async (t) => {
    const { peer, store, lost } = await open(t)
    const [category, stream] = [newCategory(), newStream(newCategory())]
    const follower = new Follower(store, { after: 0, batchSize: 100, categories: [category] })
    await store.append(stream, noStream, newEvents(3))
    await whileAway(peer, () => inflict(peer.log, stream))
    const events = newEvents(2)
    await appendUntilKnown(store, newStream(category), { events })
    await follower.received(2)
    await follower.close()
    t.same(lost, [])
  })
}

t.test('a service ends with a sentence when its log has gone back', async (t) => {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  const { url } = await testDatabase(t)
  const places = { POSTGRES_URL: url, EVENTSTORE_URL: peer.url, DATA_DIR: temporaryDirectory(t) }
  const settings = { ...places, LOG_LEVEL: 'silent', PORT: '0' }
  const runtime = await openRuntime(readConfiguration(settings))
  const before = peer.log.records.at(-1)!.position
  await firstMerchant(runtime, temporaryDirectory(t))
  const head = await runtime.dependencies.store.head()
  const service = new ServiceApart(t, 'projector', settings)
  await service.port()
  await eventually(
    () => runtime.dependencies.reads.position(),
    (position) => position >= head,
  )
  await runtime.close()
  await whileAway(peer, () => peer.log.goBackTo(before))
  t.equal(await service.ended, 1)
  t.match(service.errors, /^EventStoreDB does not have the event at position \d+ any more[^\n]+\n$/)
})
