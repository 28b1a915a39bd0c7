import t, { type Test } from 'tap'
import { RevisionCache } from '../../infra/event-store/embedded/revision-cache.ts'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { noStream, type Appended, type EventStore, type NewEvent } from '../../packages/kernel/ports.ts'
import { Script } from '../support/processes/child-process.ts'
import { eventually } from '../support/eventually.ts'
import { LossyProxy } from '../support/network/lossy-proxy.ts'
import {
  Follower,
  ids,
  misplaced,
  newCategory,
  newEvent,
  newEvents,
  newStream,
} from '../support/event-store/event-store-samples.ts'
import { testDatabase } from '../support/postgres.ts'

async function openStore(t: Test, waitingMax?: number) {
  const { url, pool } = await testDatabase(t)
  const store = await openEmbeddedStore({ url, ...(waitingMax && { waitingMax }) })
  t.teardown(() => store.close())
  return { url, pool, store }
}

t.test('when three processes write at once, then a subscriber sees each event once, in order', async (t) => {
  const { url, store } = await openStore(t)
  const category = newCategory()
  const follower = new Follower(store, { after: 0, batchSize: 300 })
  const scripts = [1, 2].map(() => new Script(t, 'event-store-process', [url, category]))
  await follower.received(1)
  const streams = Array.from({ length: 50 }, () => newStream(category))
  await Promise.all(streams.map((stream) => appendOneByOne(store, stream, newEvents(40))))
  await Promise.all(scripts.map((script) => script.line()))
  await follower.received(6_000)
  await follower.close()
  t.equal(new Set(ids(follower.events)).size, 6_000)
  t.same(misplaced(follower.events), [])
  t.same(ids(await store.readAll(0, 10_000)), ids(follower.events))
})

t.test('what a process wrote reaches its subscribers as it is stored, among what others wrote', async (t) => {
  const { url, store } = await openStore(t)
  const other = await openEmbeddedStore({ url })
  t.teardown(() => other.close())
  const category = newCategory()
  const follower = new Follower(store, { after: 0, batchSize: 100, categories: [category] })
  const odd = { kept: null, dropped: undefined, at: new Date(0), text: 'é \u2028 "\\' }
  const writers = [store, store, other, store, store, other, other, store]
  let count = 0
  for (const writer of writers) {
    const event = newEvent(odd)
    const mine = { ...event, id: event.id.toUpperCase() }
    await writer.append(newStream(category), noStream, [mine, newEvent()])
    await writer.append(newStream(newCategory()), noStream, newEvents(2))
    await follower.received((count += 2))
  }
  await follower.close()
  const wanted = await store.readAll(0, 1_000, { categories: [category] })
  t.equal(wanted.length, 2 * writers.length)
  t.strictSame(follower.events, wanted)
  t.notOk('dropped' in wanted[0]!.data)
})

t.test('given two processes that append to one stream, then each revision is written once', async (t) => {
  const { url, store } = await openStore(t)
  const other = await openEmbeddedStore({ url })
  t.teardown(() => other.close())
  const stream = newStream(newCategory())
  let revision = noStream
  for (let round = 0; round < 100; round++) {
    const appends = [store, other].map((each) => each.append(stream, revision, newEvents(1)))
    const outcomes = await Promise.allSettled(appends)
    t.match(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    revision += 1
  }
  t.equal((await store.readStream(stream, 0)).length, 100)
})

t.test('when one append of many has lost its race, then the others are written', async (t) => {
  const { url, store } = await openStore(t)
  const other = await openEmbeddedStore({ url })
  t.teardown(() => other.close())
  const category = newCategory()
  const streams = Array.from({ length: 40 }, () => newStream(category))
  await Promise.all(streams.map((stream) => store.append(stream, noStream, newEvents(1))))
  const [lost] = streams
  await other.append(lost!, 0, newEvents(1))
  const appends = streams.map((stream) => store.append(stream, 0, newEvents(2)))
  const beyond = store.append(newStream(category), 3, newEvents(1))
  const outcomes = await Promise.allSettled([...appends, beyond])
  const refused = { status: 'rejected', reason: { name: 'VersionConflictError' } }
  t.match(outcomes[0], refused)
  t.match(outcomes.at(-1), refused)
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 39)
  t.match(await store.append(lost!, 1, newEvents(1)), { revision: 2 })
  t.equal((await store.readAll(0, 1_000)).length, 40 + 1 + 39 * 2 + 1)
})

t.test('a stream is known where its writer left it, until others write to it', async (t) => {
  const known = new RevisionCache()
  t.ok(known.reached('one', noStream))
  t.notOk(known.reached('one', 0))
  known.note('one', 5)
  t.ok(known.reached('one', 5))
  t.ok(known.reached('one', 3))
  t.notOk(known.reached('one', 6))
  known.share('one')
  known.note('one', 9)
  t.notOk(known.reached('one', 9))
})

t.test('when the connection is cut under load, then repeats give one copy of each event', async (t) => {
  const { pool, store } = await openStore(t)
  const category = newCategory()
  const follower = new Follower(store, { after: 0, batchSize: 500 })
  const streams = Array.from({ length: 100 }, () => ({ stream: newStream(category), events: newEvents(40) }))
  const unknown: string[] = []
  const write = async ({ stream, events }: (typeof streams)[number]) =>
    appendOneByOne(store, stream, events, unknown)
  const written = Promise.all(streams.map(write))
  // After a cut the writer needs a moment to come back.
  const cut = () =>
    pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and query like '%append_events%' and query not like '%pg_stat_activity%'`)
  for (const progress of [500, 1_500, 2_500]) {
    await follower.received(progress)
    await eventually(cut, ({ rowCount }) => rowCount === 1)
  }
  await written
  await follower.received(4_000)
  await follower.close()
  t.ok(unknown.length > 0)
  t.same(misplaced(follower.events), [])
  t.equal(follower.events.length, 4_000)
  for (const { stream, events } of streams) t.same(ids(await store.readStream(stream, 0)), ids(events))
})

t.test('when the answer to an append is lost, then a repeat finds what was written', async (t) => {
  const { url } = await testDatabase(t)
  const proxy = new LossyProxy(t, url)
  const store = await openEmbeddedStore({ url: await proxy.listen() })
  t.teardown(() => store.close())
  const stream = newStream(newCategory())
  const [first, second] = [newEvents(2), newEvents(3)]
  await store.append(stream, noStream, first)
  proxy.loseNextAnswer()
  await t.rejects(store.append(stream, 1, second), { name: 'OutcomeUnknownError' })
  t.equal((await store.readStream(stream, 0)).length, 5)
  t.equal((await store.append(stream, 1, second)).revision, 4)
  t.same(ids(await store.readStream(stream, 0)), ids([...first, ...second]))
})

t.test('when one append of a batch cannot be stored, then only that one fails', async (t) => {
  const { store } = await openStore(t)
  const category = newCategory()
  const unstorable = ['\0', 'a\\\0', '\ud800', '\udc00x'].map((text) => newEvent({ text }))
  const huge = newEvent(JSON.parse('{"number":1e308}') as object)
  const storable = ['\\u0000', '\\\\u0000', '\u001f', '💸'].map((text) => newEvent({ text }))
  const nameless = { ...newEvent(), id: 'not-a-uuid' }
  const append = (event: NewEvent) => store.append(newStream(category), noStream, [event])
  const outcomes = await Promise.allSettled([...unstorable, nameless, huge, ...storable].map(append))
  const refused = outcomes.slice(0, 5)
  t.match(
    refused,
    refused.map(() => ({ status: 'rejected', reason: { name: 'TypeError' } })),
  )
  t.match(
    outcomes.slice(5),
    outcomes.slice(5).map(() => ({ status: 'fulfilled' })),
  )
  t.same(
    (await store.readAll(0, 10)).map(({ data }) => data),
    [huge, ...storable].map(({ data }) => data),
  )
})

t.test('an event is kept as the text that it was written as', async (t) => {
  const { store, pool } = await openStore(t)
  const stream = newStream(newCategory())
  const [event] = newEvents(1)
  const data = { currency: 'XOF', amount: 5_000, b: [1.5, { z: 'é', a: null }], a: '' }
  await store.append(stream, noStream, [{ ...event!, data }])
  const { rows } = await pool.query('select data::text from events where stream = $1', [stream])
  t.strictSame(rows, [{ data: JSON.stringify(data) }])
  t.strictSame((await store.readStream(stream, 0, 1))[0]?.data, data)
})

t.test('when the server refuses the data of one append, then its neighbours are stored', async (t) => {
  const { pool, store } = await openStore(t)
  const category = newCategory()
  await pool.query(`alter table events add check (data ->> 'text' <> 'refused')`)
  const texts = Array.from({ length: 40 }, (_, number) => (number === 17 ? 'refused' : `text ${number}`))
  const outcomes = await Promise.allSettled(
    texts.map((text) => store.append(newStream(category), noStream, [newEvent({ text })])),
  )
  t.match(outcomes[17], { status: 'rejected', reason: { code: '23514' } })
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 39)
  t.equal((await store.readAll(0, 100)).length, 39)
})

t.test('when more appends wait than may, then the next are not accepted and not written', async (t) => {
  const { store } = await openStore(t, 10)
  const category = newCategory()
  const append = () => store.append(newStream(category), noStream, newEvents(1))
  const outcomes = await Promise.allSettled(Array.from({ length: 25 }, append))
  const refused = outcomes.slice(10)
  t.match(
    refused,
    refused.map(() => ({ status: 'rejected', reason: { name: 'StoreOverloadedError' } })),
  )
  t.equal((await store.readAll(0, 100)).length, 10)
  await t.resolves(append())
})

t.test('when a stream with an impossible name is read, then it is empty and others are read', async (t) => {
  const { store } = await openStore(t)
  const stream = newStream(newCategory())
  await store.append(stream, noStream, newEvents(1))
  const names = [`${stream}\0`, stream, '', '\ud800']
  const reads = await Promise.all(names.map((name) => store.readStream(name, 0)))
  t.same(
    reads.map(({ length }) => length),
    [0, 1, 0, 0],
  )
  t.same(await store.readStream(stream, Number.MAX_SAFE_INTEGER), [])
})

/** As the executor does it: an append whose outcome is unknown is repeated with the same events. */
async function appendOneByOne(
  store: EventStore,
  stream: string,
  events: readonly NewEvent[],
  unknown: string[] = [],
): Promise<void> {
  let at: Appended = { revision: noStream, position: 0 }
  for (const event of events) at = await appendSurely(event)

  async function appendSurely(event: NewEvent): Promise<Appended> {
    try {
      return await store.append(stream, at.revision, [event])
    } catch (error) {
      if (!(error instanceof Error && error.name === 'OutcomeUnknownError')) throw error
      unknown.push(event.id)
      return appendSurely(event)
    }
  }
}
