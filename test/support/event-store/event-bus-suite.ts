import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { EventBus, PublicEvent } from '../../../packages/kernel/ports/messages.ts'
import { eventually } from '../eventually.ts'

export interface BusSuite {
  /** Another process on the same bus, sharing nothing but the bus; an in-process bus has only one. */
  readonly open: (t: Test) => Promise<EventBus>
}

const merchant = randomUUID()
let sequence = 0
/** A restarting broker that waits for dead consumers takes its time. */
const patienceMs = 240_000

export function publicEvent(resource: string): PublicEvent {
  sequence += 1
  const id = `evt_${randomUUID().replaceAll('-', '')}`
  const payload = JSON.stringify({ id, data: { note: `é ${resource}` } })
  const place = { sequence, position: 1_000 + sequence }
  const event = { id, type: 'payout.paid', merchant, livemode: false, resource, ...place, payload }
  // Some are traced, which must be preserved too.
  const span = id.slice(-16)
  return sequence % 2 === 0 ? event : { ...event, traceparent: `00-${id.slice(4)}-${span}-01` }
}

/** Events of several resources in turns. */
export function eventsOf(resources: number, each: number): PublicEvent[] {
  const names = Array.from({ length: resources }, () => `payout/${randomUUID()}`)
  return Array.from({ length: each }, () => names.map(publicEvent)).flat()
}

/** A group of its own. */
export const newGroup = () => `group-${randomUUID()}`

/** Publishes as the relay does: until the bus has stored it. */
export function publish(bus: EventBus, events: readonly PublicEvent[]): Promise<unknown> {
  return eventually(
    () =>
      bus.publish(events).then(
        () => 'kept',
        (error: Error) => error.message,
      ),
    (answer) => answer === 'kept',
    patienceMs,
  )
}

/** What consumers received of one test's events, without duplicates. */
export class Inbox {
  readonly #wanted: ReadonlySet<string>
  readonly #byId = new Map<string, PublicEvent>()

  constructor(wanted: readonly PublicEvent[]) {
    this.#wanted = new Set(wanted.map(({ id }) => id))
  }

  /** The topic contains events of earlier tests as well. */
  take(events: readonly PublicEvent[]): PublicEvent[] {
    const mine = events.filter(({ id }) => this.#wanted.has(id))
    for (const event of mine) if (!this.#byId.has(event.id)) this.#byId.set(event.id, event)
    return mine
  }

  get events(): readonly PublicEvent[] {
    return [...this.#byId.values()]
  }

  filled(): Promise<unknown> {
    return eventually(
      async () => this.#byId.size,
      (size) => size === this.#wanted.size,
      patienceMs,
    )
  }
}

export const idsOf = (events: readonly PublicEvent[]) => events.map(({ id }) => id)

/** Every time that one of these events comes. */
export function counting(wanted: readonly PublicEvent[]) {
  const ids = new Set(idsOf(wanted))
  const got: string[] = []
  const take = async (events: readonly PublicEvent[]) => {
    got.push(...idsOf(events).filter((id) => ids.has(id)))
  }
  const until = (count: number) =>
    eventually(
      async () => got.length,
      (length) => length >= count,
      20_000,
    )
  return { got, take, until }
}

const byResource = (events: readonly PublicEvent[]) => {
  const resources = [...new Set(events.map(({ resource }) => resource))].sort()
  return resources.map((resource) => events.filter((event) => event.resource === resource))
}

/** What every event bus must do. */
export function eventBusSuite(t: Test, { open }: BusSuite): void {
  t.test('events arrive as they were published, those of one resource in their order', async (t) => {
    const bus = await open(t)
    const published = eventsOf(20, 10)
    const inbox = new Inbox(published)
    await bus.subscribe(newGroup(), async (events) => void inbox.take(events))
    await publish(bus, published.slice(0, 77))
    await publish(bus, published.slice(77))
    await inbox.filled()
    t.same(byResource(inbox.events), byResource(published))
  })

  t.test('each group gets every event', async (t) => {
    const bus = await open(t)
    const published = eventsOf(5, 2)
    const inboxes = [new Inbox(published), new Inbox(published)]
    for (const inbox of inboxes) await bus.subscribe(newGroup(), async (events) => void inbox.take(events))
    await publish(bus, published)
    await Promise.all(inboxes.map((inbox) => inbox.filled()))
    for (const inbox of inboxes) t.same(byResource(inbox.events), byResource(published))
  })

  t.test(
    'a batch whose handler rejects comes again, and nothing of its resources overtakes it',
    async (t) => {
      const bus = await open(t)
      const published = eventsOf(3, 4)
      const inbox = new Inbox(published)
      let failures = 2
      await bus.subscribe(newGroup(), async (events) => {
        const isMine = new Inbox(published).take(events).length > 0
        if (isMine && failures > 0) {
          failures -= 1
          throw new Error('the database is away')
        }
        inbox.take(events)
      })
      await publish(bus, published)
      await inbox.filled()
      t.equal(failures, 0)
      t.same(byResource(inbox.events), byResource(published))
    },
  )

  t.test('when one of two consumers of a group leaves, the other gets what follows', async (t) => {
    const bus = await open(t)
    const group = newGroup()
    const before = eventsOf(30, 3)
    const after = eventsOf(30, 3)
    const inbox = new Inbox([...before, ...after])
    const counts = [0, 0]
    const member = (index: number) => async (events: readonly PublicEvent[]) => {
      counts[index]! += inbox.take(events).length
    }
    const first = await bus.subscribe(group, member(0))
    await bus.subscribe(group, member(1))
    await publish(bus, before)
    await eventually(
      async () => inbox.events.length,
      (count) => count === before.length,
    )
    await first.close()
    const firstHad = counts[0]
    await publish(bus, after)
    await inbox.filled()
    t.equal(counts[0], firstHad, 'who has left gets nothing more')
    t.same(byResource(inbox.events), byResource([...before, ...after]))
  })

  t.test('what was published while nobody of the group was there is not lost', async (t) => {
    const bus = await open(t)
    const group = newGroup()
    const published = eventsOf(10, 4)
    const inbox = new Inbox(published)
    const first = await bus.subscribe(group, async (events) => void inbox.take(events))
    await publish(bus, published.slice(0, 20))
    await eventually(
      async () => inbox.events.length,
      (count) => count === 20,
    )
    await first.close()
    const publishing = publish(bus, published.slice(20))
    await bus.subscribe(group, async (events) => void inbox.take(events))
    await publishing
    await inbox.filled()
    t.same(byResource(inbox.events), byResource(published))
  })
}
