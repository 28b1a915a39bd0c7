import t, { type Test } from 'tap'
import { v7 } from 'uuid'
import { InProcessBus } from '../../infra/event-bus/in-process.ts'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { listParked, requestRetry } from '../../infra/postgres/consumers/parked.ts'
import { postgresSnapshots } from '../../infra/postgres/snapshots.ts'
import { EventFeed } from '../../infra/postgres/webhooks/event-feed.ts'
import { postgresPublicEvents } from '../../infra/postgres/webhooks/public-events.ts'
import { Type } from '../../packages/contract/vocabulary.ts'
import { customer } from '../../packages/domain/customers/customer.ts'
import type { PublicEvent } from '../../packages/kernel/ports/messages.ts'
import { startRelay } from '../../services/relay/main.ts'
import type { PublicSource } from '../../packages/contract/webhooks/public-events.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** A log, a relay that tells every event of it, and what was told. */
async function world(t: Test) {
  const database = await testDatabase(t)
  const { url, pool } = database
  const store = await openEmbeddedStore({ url })
  t.teardown(() => store.close())
  const bus = new InProcessBus()
  const poisoned = new Set<string>()
  const source: PublicSource = {
    decider: { ...customer, initial: () => ({}), evolve: anyEvent },
    resource: 'customer',
    scope: 'customers.read',
    types: {},
    data: Type.Any(),
    typeOf: () => 'customer.created',
    view: (id) => (poisoned.has(id) ? undefined : { id }),
  }
  const told: PublicEvent[] = []
  const deaf = { tries: 0 }
  await bus.subscribe('test', async (events) => {
    if (deaf.tries-- > 0) throw new Error('nobody keeps them')
    told.push(...events)
  })
  const options = { pool, store, snapshots: postgresSnapshots(pool), bus, sources: [source], log: silent }
  const publicEvents = postgresPublicEvents(database)
  const happen = async (merchant: string, id: string = v7(), livemode = false) => {
    const at = '2026-01-01T12:00:00.000Z'
    const metadata = { merchant, livemode, actor: 'test', correlation: 'test', at, version: 1 }
    const data = { merchant, livemode, at, details: { name: null, email: null, phone: null } }
    await store.append(`customer-${id}`, -1, [{ id: v7(), type: 'CustomerCreated', data, metadata }])
    return id
  }
  const feed = (merchant: string, after: number, livemode = false) =>
    publicEvents.feed({ merchant, livemode, after, limit: 100 })
  const start = async (t: Test) => {
    const relay = await startRelay(options)
    t.teardown(() => relay.close())
    return relay
  }
  const toldAre = (count: number) =>
    eventually(
      async () => told.length,
      (length) => length >= count,
    )
  return { pool, bus, poisoned, told, deaf, happen, feed, start, toldAre }
}

/** Folds an event of any type into nothing. */
const anyEvent = new Proxy({}, { get: () => (state: object) => state }) as typeof customer.evolve

t.test('each merchant and environment has a sequence of its own, from one on', async (t) => {
  const { happen, feed, start, toldAre, told } = await world(t)
  const [one, two] = [v7(), v7()]
  await start(t)
  for (let number = 0; number < 5; number++) {
    await happen(one)
    await happen(two)
    await happen(one, v7(), true)
  }
  await toldAre(15)
  for (const [merchant, livemode] of [
    [one, false],
    [one, true],
    [two, false],
  ] as const) {
    const events = await feed(merchant, 0, livemode)
    t.strictSame(
      events.map(({ sequence }) => sequence),
      [1, 2, 3, 4, 5],
    )
    for (const { payload, sequence } of events) t.match(JSON.parse(payload), { sequence })
  }
  t.ok(told.every(({ position, sequence }) => position > 0 && sequence <= 5))
})

t.test('an event that is told late gets the next number, so a poller sees it', async (t) => {
  const { pool, happen, feed, start, toldAre, poisoned } = await world(t)
  const merchant = v7()
  const late = v7()
  poisoned.add(late)
  await start(t)
  await happen(merchant)
  await happen(merchant, late)
  await happen(merchant)
  await toldAre(2)
  const [, newest] = await feed(merchant, 0)
  poisoned.clear()
  t.equal((await listParked(pool)).length, 1)
  await requestRetry(pool)
  await toldAre(3)
  const seen = await feed(merchant, newest!.sequence)
  t.match(seen, [{ resource: `customer/${late}`, sequence: newest!.sequence + 1 }])
  t.ok(seen[0]!.position < newest!.position, 'although it happened before')
})

t.test('what was kept and not published is published again, to the letter, before what is new', async (t) => {
  const { pool, happen, feed, start, toldAre, told, deaf } = await world(t)
  const merchant = v7()
  deaf.tries = 1
  await happen(merchant)
  await happen(merchant)
  const relay = await start(t)
  await eventually(
    async () => (await feed(merchant, 0)).length,
    (length) => length === 2,
  )
  await relay.close()
  await happen(merchant)
  const kept = await feed(merchant, 0)
  // The relay that died had not moved its checkpoint.
  await pool.query(`update checkpoints set position = 0 where name = 'relay'`)
  told.length = 0
  await start(t)
  await toldAre(3)
  t.match(told.slice(0, 2), kept)
  t.strictSame(
    told.map(({ sequence }) => sequence),
    [1, 2, 3],
  )
})

t.test('where sequences were positions of the log, numbers go on from the newest', async (t) => {
  const { pool, happen, feed, start, toldAre } = await world(t)
  const merchant = v7()
  await pool.query(
    `insert into public_events (id, sequence, type, merchant, livemode, resource, payload, created_at)
     values ('evt_old', 4711, 'customer.created', $1, false, 'customer/1', '{}', now())`,
    [merchant],
  )
  await start(t)
  await happen(merchant)
  await toldAre(1)
  const [old, fresh] = await feed(merchant, 0)
  t.match(old, { sequence: 4711, position: 4711 })
  t.match(fresh, { sequence: 4712 })
})

t.test('numbers that could not be written are given again', async (t) => {
  const { pool } = await testDatabase(t)
  const feed = new EventFeed({ pool })
  const merchant = v7()
  const event = (position: number, at = '2026-01-01T12:00:00.000Z') => ({
    id: `evt_${position}`,
    type: 'payout.paid',
    merchant,
    livemode: false,
    resource: 'payout/1',
    position,
    createdAt: at,
    payload: (sequence: number) => JSON.stringify({ sequence }),
  })
  const kept = [await feed.keep([event(1)])]
  await t.rejects(feed.keep([event(2), event(3, 'no time')]))
  kept.push(...(await Promise.all([feed.keep([event(2), event(3)]), feed.keep([event(4)])])))
  t.strictSame(
    kept.flat().map(({ sequence, payload }) => [sequence, payload]),
    [1, 2, 3, 4].map((sequence) => [sequence, JSON.stringify({ sequence })]),
  )
})
