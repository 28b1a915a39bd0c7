import t, { type Test } from 'tap'
import { parseStreamName } from '../../../packages/kernel/decider.ts'
import { noStream, type EventStore } from '../../../packages/kernel/ports.ts'
import { ids, newCategory, newEvent, newEvents, newMetadata, newStream } from './event-store-samples.ts'
import { subscriptionTests } from './event-store-subscriptions.ts'

/** Opens one store for the whole suite, which closes it. */
export type OpenStore = (t: Test) => Promise<EventStore>

/**
 * What every event store must do. The server may be shared: the suite removes nothing, and counts only events
 * in categories of its own.
 */
export function eventStoreSuite(name: string, open: OpenStore): void {
  void t.test(name, async (suite) => {
    const store = await open(suite)
    suite.teardown(() => store.close())
    await appendTests(suite, store)
    await conflictTests(suite, store)
    await repeatTests(suite, store)
    await streamReadTests(suite, store)
    await logReadTests(suite, store)
    await subscriptionTests(suite, store)
    await suite.test('when the store can be reached, then it says so', async (t) => t.resolves(store.ping()))
  })
}

async function appendTests(suite: Test, store: EventStore): Promise<void> {
  await suite.test('given no stream, when events are appended, then revisions count from 0', async (t) => {
    const stream = newStream(newCategory())
    const events = newEvents(3)
    const appended = await store.append(stream, noStream, events)
    const stored = await store.readStream(stream, 0)
    t.equal(appended.revision, 2)
    t.same(
      stored.map(({ revision }) => revision),
      [0, 1, 2],
    )
    t.same(ids(stored), ids(events))
    t.equal(stored.at(-1)?.position, appended.position)
  })

  await suite.test('given a stream, when more is appended, then revisions and positions go on', async (t) => {
    const stream = newStream(newCategory())
    const first = await store.append(stream, noStream, newEvents(2))
    const second = await store.append(stream, first.revision, newEvents(2))
    t.equal(second.revision, 3)
    t.ok(second.position > first.position)
    const positions = (await store.readStream(stream, 0)).map(({ position }) => position)
    t.same(
      positions,
      [...new Set(positions)].sort((a, b) => a - b),
    )
    t.ok(positions.every((position) => position > 0 && Number.isSafeInteger(position)))
  })

  await suite.test('when an event is read, then every field is as it was appended', async (t) => {
    const stream = newStream(newCategory())
    const metadata = {
      ...newMetadata(),
      request: 'req_1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      idempotencyKey: 'a key',
      fingerprint: 'ab'.repeat(32),
      causation: { event: newEvent().id, position: 7, policy: 'payouts' },
    }
    const texts = { unicode: 'Sénégal “CFA” 💸 ዓለም', quote: '"\\', lines: 'a\r\n\tb' }
    const data = { ...texts, nested: { list: [1, null, true, [{}]] }, amount: 1.5 }
    const event = { ...newEvent(data), metadata }
    const { position } = await store.append(stream, noStream, [event])
    t.same(await store.readStream(stream, 0), [{ ...event, stream, revision: 0, position }])
  })

  await suite.test('when large events are appended together, then they are stored whole', async (t) => {
    const stream = newStream(newCategory())
    const text = 'é'.repeat(100_000)
    await store.append(stream, noStream, [newEvent({ text }), newEvent({ text })])
    t.same(
      (await store.readStream(stream, 0)).map(({ data }) => data),
      [{ text }, { text }],
    )
  })
}

async function conflictTests(suite: Test, store: EventStore): Promise<void> {
  const conflict = { name: 'VersionConflictError' }

  await suite.test('given a stream, when an append expects it elsewhere, then it conflicts', async (t) => {
    const stream = newStream(newCategory())
    await store.append(stream, noStream, newEvents(2))
    for (const expected of [noStream, 0, 2, 17]) {
      await t.rejects(store.append(stream, expected, newEvents(3)), { ...conflict, stream, expected })
    }
    t.equal((await store.readStream(stream, 0)).length, 2)
  })

  await suite.test('given no stream, when an append expects one, then it conflicts', async (t) => {
    const stream = newStream(newCategory())
    await t.rejects(store.append(stream, 0, newEvents(1)), conflict)
    t.same(await store.readStream(stream, 0), [])
  })

  await suite.test('when many append to one stream at one revision, then exactly one wins', async (t) => {
    const stream = newStream(newCategory())
    await store.append(stream, noStream, newEvents(1))
    const rivals = Array.from({ length: 50 }, () => newEvents(2))
    const outcomes = await Promise.allSettled(rivals.map((events) => store.append(stream, 0, events)))
    const winners = rivals.filter((_, index) => outcomes[index]?.status === 'fulfilled')
    t.equal(winners.length, 1)
    t.same(ids(await store.readStream(stream, 1)), ids(winners[0] ?? []))
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    t.match(
      refused,
      refused.map(() => ({ reason: conflict })),
    )
  })

  await suite.test('when some of many concurrent appends conflict, then the others are stored', async (t) => {
    const category = newCategory()
    const appends = Array.from({ length: 100 }, (_, index) => ({
      stream: newStream(category),
      expected: index % 10 === 3 ? 5 : noStream,
      events: newEvents(2),
    }))
    const outcomes = await Promise.allSettled(
      appends.map(({ stream, expected, events }) => store.append(stream, expected, events)),
    )
    for (const [index, { stream, expected, events }] of appends.entries()) {
      const outcome = outcomes[index]
      const stored = await store.readStream(stream, 0)
      if (expected !== noStream) {
        t.match(outcome, { status: 'rejected', reason: { ...conflict, stream } })
        t.same(stored, [])
      } else {
        t.match(outcome, { status: 'fulfilled', value: { revision: 1, position: stored[1]?.position } })
        t.same(ids(stored), ids(events))
      }
    }
  })
}

async function repeatTests(suite: Test, store: EventStore): Promise<void> {
  await suite.test('given an append, when it is repeated, then the answer is the same', async (t) => {
    const stream = newStream(newCategory())
    const events = newEvents(3)
    const first = await store.append(stream, noStream, events)
    t.same(await store.append(stream, noStream, events), first)
    t.equal((await store.readStream(stream, 0)).length, 3)
  })

  await suite.test('given later appends, when one is repeated, then its answer is the same', async (t) => {
    const stream = newStream(newCategory())
    await store.append(stream, noStream, newEvents(2))
    const events = newEvents(2)
    const first = await store.append(stream, 1, events)
    await store.append(stream, 3, newEvents(2))
    t.same(await store.append(stream, 1, events), first)
    t.equal((await store.readStream(stream, 0)).length, 6)
  })

  await suite.test('given an append, when only a part of it is repeated, then it conflicts', async (t) => {
    const stream = newStream(newCategory())
    const events = newEvents(2)
    await store.append(stream, noStream, events)
    const mixed = [...events.slice(0, 1), newEvent()]
    await t.rejects(store.append(stream, noStream, mixed), { name: 'VersionConflictError' })
    t.same(ids(await store.readStream(stream, 0)), ids(events))
  })
}

async function streamReadTests(suite: Test, store: EventStore): Promise<void> {
  await suite.test('given a stream, when it is read, then revision and limit say which part', async (t) => {
    const stream = newStream(newCategory())
    await store.append(stream, noStream, newEvents(10))
    const revisions = async (from: number, limit?: number) =>
      (await store.readStream(stream, from, limit)).map(({ revision }) => revision)
    t.same(await revisions(7), [7, 8, 9])
    t.same(await revisions(3, 2), [3, 4])
    t.same(await revisions(9, 5), [9])
    t.same(await revisions(10), [])
    t.same(await revisions(0), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  await suite.test('given no stream, when it is read, then there are no events', async (t) => {
    t.same(await store.readStream(newStream(newCategory()), 0), [])
    t.same(await store.readStream(newStream(newCategory()), 0, 1), [])
  })

  await suite.test('given a long stream, when it is read, then all of it comes', async (t) => {
    const stream = newStream(newCategory())
    const events = newEvents(1_200)
    for (let start = 0; start < events.length; start += 300) {
      await store.append(stream, start - 1, events.slice(start, start + 300))
    }
    t.same(ids(await store.readStream(stream, 0)), ids(events))
    t.same(ids(await store.readStream(stream, 100, 700)), ids(events.slice(100, 800)))
  })

  await suite.test('when many streams are read at once, then each reader gets its own', async (t) => {
    const category = newCategory()
    const streams = Array.from({ length: 300 }, () => newStream(category))
    await Promise.all(streams.map((stream) => store.append(stream, noStream, newEvents(2))))
    const reads = await Promise.all(streams.map((stream, index) => store.readStream(stream, index % 3)))
    reads.forEach((events, index) => {
      const expected = [0, 1].slice(index % 3).map((revision) => ({ stream: streams[index], revision }))
      t.same(
        events.map(({ stream, revision }) => ({ stream, revision })),
        expected,
      )
    })
  })
}

async function logReadTests(suite: Test, store: EventStore): Promise<void> {
  await suite.test('when the log is read, then the filter leaves other categories out', async (t) => {
    const [payouts, refunds, others] = [newCategory(), newCategory(), newCategory()]
    const before = await store.head()
    for (const category of [payouts, others, refunds, payouts]) {
      await store.append(newStream(category), noStream, newEvents(2))
    }
    const categories = async (wanted: readonly string[]) => {
      const events = await store.readAll(before, 100, { categories: wanted })
      return events.map(({ stream }) => parseStreamName(stream).category)
    }
    t.same(await categories([payouts]), [payouts, payouts, payouts, payouts])
    t.same(await categories([payouts, refunds]), [payouts, payouts, refunds, refunds, payouts, payouts])
    t.same(await categories([newCategory()]), [])
  })

  await suite.test('when the log is read page by page, then each event comes once', async (t) => {
    const category = newCategory()
    const before = await store.head()
    const streams = Array.from({ length: 25 }, () => newStream(category))
    const appended = await Promise.all(streams.map((stream) => store.append(stream, noStream, newEvents(3))))
    const positions: number[] = []
    for (let after = before; ; after = positions.at(-1) ?? after) {
      const page = await store.readAll(after, 7, { categories: [category] })
      t.ok(page.length <= 7)
      if (page.length === 0) break
      positions.push(...page.map(({ position }) => position))
    }
    t.equal(positions.length, 75)
    t.same(
      positions,
      [...new Set(positions)].sort((a, b) => a - b),
    )
    t.ok(appended.every(({ position }) => positions.includes(position)))
  })

  await suite.test('when an event is asked for by its position, then it is that one or none', async (t) => {
    const stream = newStream(newCategory())
    await store.append(stream, noStream, newEvents(3))
    await store.append(newStream(newCategory()), noStream, newEvents(1))
    const events = await store.readStream(stream, 0)
    for (const event of events) t.same(await store.readAt(event.position), event)
    const [first, , last] = events.map(({ position }) => position) as [number, number, number]
    for (const position of [first - 1, first + 1, last - 1, last + 1]) {
      // Where no event begins, a server may refuse to read.
      const found = await store.readAt(position).catch(() => undefined)
      t.ok(found === undefined || found.position === position, `another event than at ${position}`)
    }
    t.equal(await store.readAt((await store.head()) + 1_000_000), undefined, 'beyond the head')
  })

  await suite.test('when a long log is read to its end, then each event comes once', async (t) => {
    const before = await store.head()
    const [first, second] = [newStream(newCategory()), newStream(newCategory())]
    for (let revision = noStream; revision < 2_399; revision += 1_200) {
      await store.append(first, revision, newEvents(1_200))
      await store.append(second, revision, newEvents(1_200))
    }
    const revisions = new Map<string, number[]>([first, second].map((stream) => [stream, []]))
    let last = before
    for await (const events of store.readOn(before)) {
      t.ok(events.length > 0 && events[0]!.position > last)
      last = events.at(-1)!.position
      for (const { stream, revision } of events) revisions.get(stream)?.push(revision)
    }
    const all = Array.from({ length: 2_400 }, (_, revision) => revision)
    t.same([...revisions.values()], [all, all])
    for await (const events of store.readOn(last)) t.fail(`${events.length} events behind the end`)
  })

  await suite.test('when the log is read without a filter, then all categories come', async (t) => {
    const before = await store.head()
    const [first, second] = [newStream(newCategory()), newStream(newCategory())]
    await store.append(first, noStream, newEvents(1))
    const { position } = await store.append(second, noStream, newEvents(1))
    const streams = (await store.readAll(before, 1_000)).map(({ stream }) => stream)
    t.ok(streams.indexOf(first) >= 0 && streams.indexOf(first) < streams.indexOf(second))
    t.ok((await store.head()) >= position)
    const categories = [parseStreamName(second).category]
    t.same(await store.readAll(position, 10, { categories }), [])
  })
}
