import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Test } from 'tap'
import { noStream, type EventStore, type NewEvent, type StoredEvent } from '../../../packages/kernel/ports.ts'
import {
  Follower,
  ids,
  misplaced,
  newCategory,
  newEvent,
  newEvents,
  newStream,
} from './event-store-samples.ts'
import { eventually } from '../eventually.ts'

export async function subscriptionTests(suite: Test, store: EventStore): Promise<void> {
  await followTests(suite, store)
  await contentTests(suite, store)
  await failureTests(suite, store)
  await closeTests(suite, store)
  await loadTests(suite, store)
}

async function followTests(suite: Test, store: EventStore): Promise<void> {
  await suite.test('given events, when a subscription starts, then it catches up and follows', async (t) => {
    const category = newCategory()
    const stream = newStream(category)
    const after = await store.head()
    const [old, live] = [newEvents(25), newEvents(5)]
    await store.append(stream, noStream, old)
    const follower = new Follower(store, { after, batchSize: 10, categories: [category] })
    await follower.received(25)
    await store.append(stream, 24, live)
    await follower.received(30)
    await follower.close()
    t.same(ids(follower.events), ids([...old, ...live]))
    t.same(follower.events, await store.readStream(stream, 0))
    t.ok(follower.batches.every(({ length }) => length <= 10))
  })

  await suite.test('when a subscription starts at a position, then it sees only later events', async (t) => {
    const category = newCategory()
    const stream = newStream(category)
    const { position } = await store.append(stream, noStream, newEvents(3))
    const later = newEvents(2)
    await store.append(stream, 2, later)
    const follower = new Follower(store, { after: position, batchSize: 100, categories: [category] })
    await follower.received(2)
    await follower.close()
    t.same(ids(follower.events), ids(later))
  })

  await suite.test('given a subscription, when others want more, then each sees what it wants', async (t) => {
    const [one, another] = [newCategory(), newCategory()]
    const after = await store.head()
    const narrow = new Follower(store, { after, batchSize: 100, categories: [one] })
    const written: NewEvent[] = []
    const write = async (category: string) => {
      const [event] = newEvents(1)
      await store.append(newStream(category), noStream, [event!])
      written.push(event!)
    }
    for (const category of [one, another, one]) await write(category)
    await narrow.received(2)
    const wide = new Follower(store, { after, batchSize: 100, categories: [one, another] })
    const whole = new Follower(store, { after, batchSize: 100 })
    for (const category of [another, one, another]) await write(category)
    await Promise.all([narrow.received(3), wide.received(6), whole.received(6)])
    await write(one)
    await Promise.all([narrow.received(4), wide.received(7), whole.received(7)])
    await Promise.all([narrow, wide, whole].map((follower) => follower.close()))
    t.same(ids(narrow.events), ids([written[0]!, written[2]!, written[4]!, written[6]!]))
    t.same(ids(wide.events), ids(written))
    t.same(ids(whole.events), ids(written))
  })

  await suite.test('when a subscription goes on from a checkpoint, then nothing is missing', async (t) => {
    const [category, other] = [newCategory(), newCategory()]
    const after = await store.head()
    const streams = Array.from({ length: 40 }, (_, index) => newStream(index % 4 === 0 ? category : other))
    for (const stream of streams) await store.append(stream, noStream, newEvents(1))
    const first = new Follower(store, { after, batchSize: 3, categories: [category] })
    await first.received(4)
    await first.close()
    const second = new Follower(store, { after: first.through, batchSize: 3, categories: [category] })
    await second.received(10 - first.events.length)
    await second.close()
    const seen = [...first.events, ...second.events].map(({ stream }) => stream)
    t.same(
      seen,
      streams.filter((stream) => stream.startsWith(category)),
    )
    t.ok(first.through >= (first.events.at(-1)?.position ?? Infinity))
  })
}

/** What JSON drops, or writes as something else. */
const unlikeJson = [
  { none: undefined, kept: null, inner: { none: undefined }, list: [undefined, 1] },
  { at: new Date('2026-01-02T03:04:05.678Z') },
  { zero: -0, infinite: Infinity },
  { map: new Map([['a', 1]]), ['__proto__x']: 1 },
]

async function contentTests(suite: Test, store: EventStore): Promise<void> {
  await suite.test('whoever follows is shown what is stored, and not what was given', async (t) => {
    const category = newCategory()
    const stream = newStream(category)
    const options = { after: await store.head(), batchSize: 10, categories: [category] }
    const follower = new Follower(store, options)
    await store.append(stream, noStream, newEvents(1))
    await follower.received(1)
    await store.append(stream, 0, unlikeJson.map(newEvent))
    await follower.received(1 + unlikeJson.length)
    await follower.close()
    t.strictSame(follower.events, await store.readStream(stream, 0))
    t.strictSame(Object.keys(follower.events[1]!.data), ['kept', 'inner', 'list'])
  })
}

async function failureTests(suite: Test, store: EventStore): Promise<void> {
  await suite.test('when a handler rejects, then the same batch comes again before any other', async (t) => {
    const category = newCategory()
    const after = await store.head()
    const stream = newStream(category)
    await store.append(stream, noStream, newEvents(10))
    const attempts: (readonly string[])[] = []
    const errors: unknown[] = []
    const failure = new Error('the read model is gone')
    const handle = async (batch: readonly StoredEvent[]) => {
      if (batch.length > 0) attempts.push(ids(batch))
      if (attempts.length === 2 || attempts.length === 3) throw failure
    }
    const onError = (error: unknown) => errors.push(error)
    const follower = new Follower(store, { after, batchSize: 4, categories: [category], handle, onError })
    await follower.received(10)
    await follower.close()
    const [first, second, ...others] = attempts
    t.same(others.slice(0, 2), [second, second])
    t.not(first, second)
    t.same(ids(follower.events), ids(await store.readStream(stream, 0)))
    t.same(errors, [failure, failure])
  })

  await suite.test('when a handler is slow, then the next batch waits for it', async (t) => {
    const category = newCategory()
    const after = await store.head()
    let running = 0
    let most = 0
    const handle = async () => {
      most = Math.max(most, ++running)
      await store.ping()
      running -= 1
    }
    const follower = new Follower(store, { after, batchSize: 2, categories: [category], handle })
    const append = () => store.append(newStream(category), noStream, newEvents(1))
    await Promise.all(Array.from({ length: 40 }, append))
    await follower.received(40)
    await follower.close()
    t.equal(most, 1)
  })
}

async function closeTests(suite: Test, store: EventStore): Promise<void> {
  await suite.test('when a subscription is closed, then the batch in hand is the last one', async (t) => {
    const category = newCategory()
    const after = await store.head()
    await store.append(newStream(category), noStream, newEvents(6))
    let release = () => {}
    let started = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const handling = new Promise<void>((resolve) => (started = resolve))
    const handle = async () => {
      started()
      await gate
    }
    const follower = new Follower(store, { after, batchSize: 2, categories: [category], handle })
    await handling
    const closed = follower.close()
    release()
    await closed
    const count = follower.events.length
    t.ok(count > 0 && count <= 2)
    const witness = new Follower(store, { after, batchSize: 100, categories: [category] })
    await witness.received(6)
    await witness.close()
    t.equal(follower.events.length, count)
  })

  await suite.test('when a subscription waits for events, then it can be closed, also twice', async (t) => {
    const after = await store.head()
    const follower = new Follower(store, { after, batchSize: 10, categories: [newCategory()] })
    await follower.close()
    await follower.close()
    t.same(follower.events, [])
  })

  await suite.test(
    'when a subscription was closed, then the store keeps nothing of its consumer',
    async (t) => {
      const consumer = await finishedConsumer(store)
      const collect = collector()
      const isGone = async () => {
        collect()
        return consumer.deref() === undefined
      }
      t.ok(await eventually(isGone, Boolean))
    },
  )
}

/** Subscriptions of somebody who follows the store briefly: a leader elected again and again has many. */
async function finishedConsumer(store: EventStore): Promise<WeakRef<object>> {
  const category = newCategory()
  const follower = new Follower(store, { after: await store.head(), batchSize: 10, categories: [category] })
  await store.append(newStream(category), noStream, newEvents(1))
  await follower.received(1)
  await follower.close()
  return new WeakRef(follower)
}

/** V8's garbage collector, which Node exposes only on request. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

async function loadTests(suite: Test, store: EventStore): Promise<void> {
  await suite.test('when 10,000 events are appended to 200 streams, then all come in order', async (t) => {
    const category = newCategory()
    const after = await store.head()
    const follower = new Follower(store, { after, batchSize: 500, categories: [category] })
    const unfiltered = new Follower(store, { after, batchSize: 500 })
    const streams = Array.from({ length: 200 }, () => newStream(category))
    const positions = await Promise.all(streams.map(appendOneByOne))
    const last = Math.max(...positions)
    await follower.received(10_000)
    await unfiltered.until(({ through }) => through >= last)
    await Promise.all([follower.close(), unfiltered.close()])

    const ours = unfiltered.events.filter(({ stream }) => stream.startsWith(category))
    t.equal(follower.events.length, 10_000)
    t.same(ids(ours), ids(follower.events))
    t.same(misplaced(follower.events), [])
  })

  async function appendOneByOne(stream: string): Promise<number> {
    let at = { revision: noStream, position: 0 }
    for (const event of newEvents(50)) at = await store.append(stream, at.revision, [event])
    return at.position
  }
}
