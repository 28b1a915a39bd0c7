import { deepEqual } from 'node:assert/strict'
import t from 'tap'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream, type EventStore } from '../../packages/kernel/ports.ts'
import { Follower, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import type { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { peerAndStore } from '../support/event-store/eventstoredb.ts'
import {
  foreignEvents,
  foreignShapes,
  writeForeign,
  type ForeignShape,
} from '../support/event-store/foreign-events.ts'
import { testDatabase } from '../support/postgres.ts'
import { fc } from '../support/properties.ts'

type Step =
  | { readonly do: 'ours' | 'repeat'; readonly by: number; readonly count: number }
  | { readonly do: 'wrong'; readonly by: number; readonly off: number }
  | { readonly do: 'foreign'; readonly shape: ForeignShape; readonly count: number }
  | { readonly do: 'read'; readonly by: number; readonly from: number; readonly limit: number | undefined }
  | { readonly do: 'open anew'; readonly by: number }

const by = fc.nat(1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('ours' as const), by, count: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('foreign' as const),
      shape: fc.constantFrom(...foreignShapes),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('repeat' as const), by, count: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wrong' as const), by, off: fc.integer({ min: -3, max: 5 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      by,
      from: fc.nat(12),
      limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('open anew' as const), by }) },
)

type Stored = Awaited<ReturnType<EventStore['readStream']>>
const told = (events: Stored) => events.map(({ id, revision, metadata }) => ({ id, revision, metadata }))
const outcomeOf = (appending: Promise<{ readonly revision: number }>) =>
  appending.then(
    ({ revision }) => revision,
    (error: Error) => error.name,
  )

/** Two processes on one server, beside the embedded store, to which only ours is written. */
class Twins {
  readonly stream = newStream('payout')
  readonly #peer: EventStoreDbPeer
  readonly #embedded: EventStore
  /** One for each process. */
  readonly #stores: EventStore[]
  readonly #appends: { readonly expected: number; readonly events: ReturnType<typeof newEvents> }[] = []
  #last = noStream

  constructor(peer: EventStoreDbPeer, embedded: EventStore, stores: EventStore[]) {
    this.#peer = peer
    this.#embedded = embedded
    this.#stores = stores
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'foreign') return this.#writeForeign(step.shape, step.count)
    if (step.do === 'open anew') return this.#openAnew(step.by)
    if (step.do === 'read') return this.read(step.by, step.from, step.limit)
    if (step.do === 'wrong') return this.#appendWrongly(step.by, this.#last + step.off)
    if (step.do === 'ours') return this.#append(step.by, this.#last, newEvents(step.count))
    const append = this.#appends[step.count % (this.#appends.length || 1)]
    if (append) await this.#append(step.by, append.expected, append.events)
  }

  async read(by: number, from: number, limit?: number): Promise<void> {
    // Of a stream that has never been, an event that is asked for is gone.
    const start = this.#last === noStream ? 0 : from
    const [there, here] = [this.#stores[by]!, this.#embedded]
    const found = told(await there.readStream(this.stream, start, limit))
    deepEqual(found, told(await here.readStream(this.stream, start, limit)), `${start} ${limit}`)
  }

  async readAll(): Promise<void> {
    await this.#openAnew(0)
    for (let by = 0; by < this.#stores.length; by++) {
      for (let from = 0; from <= this.#last + 2; from++)
        for (const limit of [1 + (from % 3), undefined]) await this.read(by, from, limit)
    }
  }

  #writeForeign(shape: ForeignShape, count: number): void {
    for (let number = 0; number < count; number++)
      writeForeign(this.#peer.log, this.stream, foreignEvents[shape]())
  }

  /** As a process that knows nothing yet. */
  async #openAnew(by: number): Promise<void> {
    await this.#stores[by]!.close()
    this.#stores[by] = await openEventStoreDb({ url: this.#peer.url })
  }

  async #appendWrongly(by: number, expected: number): Promise<void> {
    if (expected >= noStream && expected !== this.#last) await this.#append(by, expected, newEvents(1))
  }

  async #append(by: number, expected: number, events: ReturnType<typeof newEvents>): Promise<void> {
    const here = await outcomeOf(this.#embedded.append(this.stream, expected, events))
    const there = await outcomeOf(this.#stores[by]!.append(this.stream, expected, events))
    deepEqual(there, here, `expected ${expected}, at ${this.#last}`)
    if (typeof here !== 'number') return
    this.#last = Math.max(this.#last, here)
    this.#appends.push({ expected, events })
  }
}

t.test('whatever others write between ours, both stores answer the same', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const embedded = await openEmbeddedStore(await testDatabase(t))
  t.teardown(() => embedded.close())
  const stores = [await openEventStoreDb({ url: peer.url }), await openEventStoreDb({ url: peer.url })]
  t.teardown(() => Promise.all(stores.map((each) => each.close())))
  const follower = new Follower(store, { after: 0, batchSize: 100, categories: ['payout'] })
  const steps = fc.array(step, { minLength: 5, maxLength: 25 })
  const holds = fc.asyncProperty(steps, async (steps) => {
    const twins = new Twins(peer, embedded, stores)
    for (const step of steps) await twins.take(step)
    await twins.readAll()
  })
  await fc.assert(holds, { numRuns: 30 })
  const all = await embedded.readAll(0, 100_000)
  await follower.received(all.length)
  await follower.close()
  const dense = (events: Stored) => events.map(({ id, stream, revision }) => [id, stream, revision])
  t.same(dense(follower.events), dense(all), 'consumers are told the same revisions')
})
