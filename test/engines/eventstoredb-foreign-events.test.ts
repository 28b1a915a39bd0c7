import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { openEventStoreDbTarget } from '../../infra/event-store/eventstoredb/target.ts'
import { noStream, type NewEvent, type StoredEvent } from '../../packages/kernel/ports.ts'
import {
  Follower,
  ids,
  newEvent,
  newEvents,
  newMetadata,
  newStream,
} from '../support/event-store/event-store-samples.ts'
import type { ProposedRecord } from '../support/eventstoredb-peer/append-rules.ts'
import type { Log } from '../support/eventstoredb-peer/log.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { peerAndStore } from '../support/event-store/eventstoredb.ts'
import { lawOver } from '../support/law.ts'

const category = 'payout'

/** As it would look if this service had written it. */
function record(event: NewEvent, metadata: object = {}): ProposedRecord {
  return {
    id: event.id,
    type: event.type,
    contentType: 'application/json',
    data: Buffer.from(JSON.stringify(event.data)),
    metadata: Buffer.from(JSON.stringify({ ...event.metadata, ...metadata })),
  }
}

const without = (field: string) => ({ [field]: undefined })
const { correlation, version } = newMetadata()

/** What other programs write; nearly ours, each but for one thing. */
const shapes: Readonly<Record<string, (sound: ProposedRecord) => Partial<ProposedRecord>>> = {
  'that is not JSON': () => ({ contentType: 'application/octet-stream' }),
  'whose data are no JSON': () => ({ data: Buffer.from('{') }),
  'whose data are a list': () => ({ data: Buffer.from('[]') }),
  'whose data are null': () => ({ data: Buffer.from('null') }),
  'whose data are a number': () => ({ data: Buffer.from('7') }),
  ...Object.fromEntries(
    ['', 'null', '[]', '"text"', '{}', '{'].map((text) => [
      `with the metadata ${text}`,
      () => ({ metadata: Buffer.from(text) }),
    ]),
  ),
  'with a correlation and a version only': () => ({
    metadata: Buffer.from(JSON.stringify({ correlation, version })),
  }),
}

const metadatas: Readonly<Record<string, object>> = {
  'without an owner': { ...without('merchant'), ...without('livemode') },
  'of a merchant in no environment': without('livemode'),
  'of a merchant by number': { merchant: 7 },
  'without an actor': without('actor'),
  'of no time': without('at'),
  'of a time that is none': { at: 'yesterday' },
  'with a version as text': { version: '1' },
  'without a version': without('version'),
  'without a correlation': without('correlation'),
  'sealed with text': { salt: 'AAAA', sealed: 'text' },
  'sealed without a salt': { sealed: { key: randomUUID(), box: 'AAAA' } },
  'sealed with a key that is none': { salt: 'AAAA', sealed: { key: 'a\u0000', box: 'AAAA' } },
  'sealed in a box that is none': { salt: 'AAAA', sealed: { key: randomUUID(), box: {} } },
  'sealed with a digest that is none': {
    salt: 'AAAA',
    sealed: { key: randomUUID(), box: 'AAAA', digest: 1 },
  },
  'with a salt that is none': { salt: 7 },
  'of a request that is none': { request: {} },
  'caused by nothing': { causation: null },
  'caused by text': { causation: 'text' },
  'caused nowhere': { causation: { event: randomUUID(), position: 'x', policy: 'p' } },
  'with a position': { position: 1 },
  'with a huge position': { position: Number.MAX_SAFE_INTEGER },
  'with the position 0': { position: 0 },
  'with a position as text': { position: '5' },
  'with an unknown position': { position: null },
  'with a revision that it cannot have': { revision: 1 },
  'with a revision as text': { revision: '0' },
  'with a negative revision': { revision: -1 },
  'with an unknown revision': { revision: null },
}

function foreign(): readonly (readonly [string, ProposedRecord])[] {
  const strange = Object.entries(shapes).map(([name, change]) => {
    const sound = record(newEvent())
    return [name, { ...sound, ...change(sound) }] as const
  })
  const nearly = Object.entries(metadatas).map(
    ([name, change]) => [name, record(newEvent(), change)] as const,
  )
  return [...strange, ...nearly]
}

t.test('events of others in any shape are passed over, counted once and logged once a stream', async (t) => {
  const logged: string[] = []
  const log = { warn: ({ stream }: Readonly<Record<string, unknown>>) => void logged.push(String(stream)) }
  const { peer, store } = await peerAndStore(t, { categories: [category], log })
  const followers = [1, 2].map(() => new Follower(store, { after: 0, batchSize: 10, categories: [category] }))
  const ours: NewEvent[] = []
  const write = async () => {
    const [event] = newEvents(1)
    ours.push(event!)
    await store.append(newStream(category), noStream, [event!])
  }
  await write()
  const strangers = foreign()
  const disturbed: string[] = []
  for (const [, event] of strangers) {
    const stream = newStream(category)
    peer.log.append(stream, noStream, [event])
    disturbed.push(stream)
    await write()
  }
  peer.log.append(disturbed[0]!, 0, [{ ...strangers[0]![1], id: randomUUID() }])
  await write()
  await Promise.all(followers.map((follower) => follower.received(ours.length)))
  await Promise.all(followers.map((follower) => follower.close()))
  await store.head()
  for (const { events } of followers) t.same(ids(events), ids(ours))
  t.same(ids(await store.readAll(0, 1_000)), ids(ours))
  t.equal(store.counts().eventsPassedOver, strangers.length + 1)
  t.same(logged.toSorted(), disturbed.toSorted())
  await lawOver(t, strangers, async ([name, event]) => {
    const { stream } = peer.log.records.find(({ id }) => id === event.id)!
    t.same(await store.readStream(stream, 0), [], name)
  })
})

t.test('in a copied log only what was copied says where it stands', async (t) => {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  const options = { url: peer.url, categories: [category] }
  const target = await openEventStoreDbTarget(options)
  const events = newEvents(2_500).map((event, index): StoredEvent => ({
    ...event,
    stream: `${category}-${index}`,
    revision: 0,
    position: 7 * (index + 1),
  }))
  const claims = [undefined, 0, 7 * 2_500 + 1, Number.MAX_SAFE_INTEGER, -1, 'text']
  const disturb = (log: Log) => {
    for (const position of claims)
      log.append(newStream(category), noStream, [record(newEvent(), { position })])
  }
  await target.begin(randomUUID())
  await target.write(events.slice(0, 1_000))
  disturb(peer.log)
  await target.write(events.slice(1_000))
  await target.complete(target.id ?? randomUUID())
  await target.close()
  disturb(peer.log)
  const store = await openEventStoreDb(options)
  t.teardown(() => store.close())
  const before = peer.log.records.at(-1)!.position
  const late = newEvent()
  const { position } = await store.append(newStream(category), noStream, [late])
  const found = await store.readAll(0, 5_000)
  // One stands behind the server's last copied event, and says nothing: this is how our own events look.
  const own = found.filter(({ position }) => position <= 7 * 2_500)
  t.same(
    own.map(({ id, position }) => [id, position]),
    events.map(({ id, position }) => [id, position]),
  )
  t.equal(found.length, events.length + 2)
  t.equal(found.at(-1)!.position, position)
  t.ok(peer.log.records.at(-1)!.position > before)
})

t.test(
  'of very many streams that hold events of others, some are named and the others counted',
  async (t) => {
    const { peer, store } = await peerAndStore(t, { categories: [category] })
    const stranger = () => record(newEvent(), without('correlation'))
    for (let number = 0; number < 1_234; number++) {
      const stream = newStream(category)
      peer.log.append(stream, noStream, [stranger()])
      if (number % 2 === 0) peer.log.append(stream, 0, [stranger()])
    }
    t.same(await store.readAll(0, 10), [])
    const irregularities = await store.irregularities()
    t.equal(irregularities.length, 1_001)
    t.same(irregularities.at(-1), {
      stream: '234 more streams',
      problem: 'hold events that this service has not written, or were deleted for ever',
    })
  },
)

t.test('what others have written while nothing of ours came is counted too', async (t) => {
  const { peer, store } = await peerAndStore(t, { categories: [category] })
  const stream = newStream(category)
  const { position } = await store.append(stream, noStream, newEvents(1))
  peer.log.append(stream, 0, [record(newEvent(), without('correlation'))])
  t.equal(await store.head(), position)
  t.equal(store.counts().eventsPassedOver, 1)
})

t.test('what others have written into one stream counts once, however much it is', async (t) => {
  const { peer, store } = await peerAndStore(t, { categories: [category] })
  const [stream, late, count] = [newStream(category), newStream(category), 12_000]
  const stranger = () => record(newEvent(), without('correlation'))
  await store.append(stream, noStream, newEvents(1))
  for (let revision = 0; revision < count; revision++) peer.log.append(stream, revision, [stranger()])
  peer.log.append(late, noStream, [stranger()])
  peer.log.tombstone(late)
  for (const _ of [1, 2]) {
    t.equal((await store.readStream(stream, 0)).length, 1)
    t.equal((await store.readAll(0, 10)).length, 1)
    t.equal(store.counts().eventsPassedOver, count + 2)
  }
})

t.test('our newest event is found behind many of others with few reads', async (t) => {
  const { peer, store } = await peerAndStore(t, { categories: [category] })
  const { position } = await store.append(newStream(category), noStream, newEvents(1))
  const stream = newStream(category)
  for (let revision = noStream; revision < 2_000; revision++)
    peer.log.append(stream, revision, [record(newEvent(), { correlation: undefined })])
  peer.reads = 0
  t.equal(await store.head(), position)
  t.ok(peer.reads < 20, `${peer.reads} reads`)
})

t.test('a position that no number can hold is told to consumers, and the process goes on', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const errors: Error[] = []
  const onError = (error: unknown) => void errors.push(error as Error)
  const follower = new Follower(store, { after: 0, batchSize: 10, categories: [category], onError })
  await store.append(newStream(category), noStream, newEvents(1))
  await follower.received(1)
  await peer.until(({ subscribedAfter }) => subscribedAfter.length > 0)
  peer.log.skipTo(Number.MAX_SAFE_INTEGER + 1)
  peer.log.append(newStream(category), noStream, [record(newEvent())])
  await store.ping()
  while (errors.length === 0) await new Promise((resolve) => setImmediate(resolve))
  t.match(errors[0]?.message, /position 9007199254740992 is not a safe integer/)
  await follower.close()
})
