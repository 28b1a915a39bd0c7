import { once } from 'node:events'
import { Kafka, logLevel, type Admin } from 'kafkajs'
import t, { type Test } from 'tap'
import { topic, type KafkaBus } from '../../infra/event-bus/kafka.ts'
import { keepPublicEvents } from '../../infra/postgres/webhooks/public-events.ts'
import type { PublicEvent } from '../../packages/kernel/ports/messages.ts'
import { counting, idsOf, newGroup, publish } from '../support/event-store/event-bus-suite.ts'
import { testBroker } from '../support/event-store/kafka.ts'
import { logged, openKafkaBus } from '../support/event-store/kafka-bus.ts'
import { eventually } from '../support/eventually.ts'

/* A topic that is lost, and made anew, while services run. */

async function openAdmin(t: Test): Promise<Admin> {
  const admin = new Kafka({ brokers: [await testBroker()], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  t.teardown(() => admin.disconnect())
  return admin
}

async function loseTopic(t: Test): Promise<Admin> {
  const admin = await openAdmin(t)
  await admin.deleteTopics({ topics: [topic] })
  await eventually(
    () => admin.listTopics(),
    (topics) => !topics.includes(topic),
  )
  return admin
}

/** How many messages each partition has. A topic that has just been made has no leaders yet. */
const sizeOf = (admin: Admin) =>
  eventually(
    () =>
      admin.fetchTopicOffsets(topic).then(
        (offsets) => offsets.map(({ high }) => Number(high)),
        (): number[] => [],
      ),
    (sizes) => sizes.length > 0,
  )

/** Publishes until each partition of the new topic has more messages than were in the one before. */
async function outgrow(t: Test, bus: KafkaBus, events: readonly PublicEvent[]): Promise<void> {
  const admin = await openAdmin(t)
  const before = await sizeOf(admin)
  await loseTopic(t)
  await eventually(
    async () => {
      await publish(bus, events)
      return sizeOf(admin)
    },
    (sizes) => sizes.every((size, partition) => size > before[partition]!),
  )
}

t.test('a topic that is lost is made again as it was, by whoever looks first', async (t) => {
  const { events, journal } = await logged(1)
  const bus = await openKafkaBus(t, { journal })
  const admin = await loseTopic(t)
  await bus.ping()
  const looked = (await sizeOf(admin)).length
  await loseTopic(t)
  await publish(bus, events)
  t.same([looked, (await sizeOf(admin)).length], [12, 12])
})

t.test('a consumer of a topic that is lost receives what comes to the next one', async (t) => {
  const { events, journal, happen } = await logged(10)
  const bus = await openKafkaBus(t, { journal })
  const later = await happen(10)
  const [first, second] = [counting(events), counting(later)]
  await bus.subscribe(newGroup(), async (some) => {
    await first.take(some)
    await second.take(some)
  })
  await publish(bus, events)
  await first.until(10)
  await loseTopic(t)
  await publish(bus, later)
  await second.until(10)
  t.same(new Set(second.got), new Set(idsOf(later)))
})

// So many that there are some in each partition.
const many = 200

/** A group that has handled what was in each partition, and was away when more was published. */
async function away(t: Test) {
  const { events, journal, happen } = await logged(many)
  const bus = await openKafkaBus(t, { journal })
  const group = newGroup()
  const handled = counting(events)
  const first = await bus.subscribe(group, handled.take)
  await publish(bus, events)
  await handled.until(many)
  await first.close()
  const lost = await happen(many)
  await publish(bus, lost)
  const readsLost = async () => {
    const missed = counting(lost)
    await bus.subscribe(group, missed.take)
    await missed.until(many)
    t.same(new Set(missed.got), new Set(idsOf(lost)))
  }
  return { bus, group, journal, happen, lost, readsLost }
}

async function lostWhileAway(t: Test, { isRelayRestarted }: { readonly isRelayRestarted: boolean }) {
  const { bus, journal, happen, readsLost } = await away(t)
  const relay = isRelayRestarted ? await openKafkaBus(t, { journal }) : bus
  await outgrow(t, relay, await happen(many))
  await readsLost()
}

t.test('a consumer that was away reads from the log what was lost with a topic', (t) =>
  lostWhileAway(t, { isRelayRestarted: false }),
)

t.test('so it does when the relay was away as well', (t) => lostWhileAway(t, { isRelayRestarted: true }))

t.test('a consumer that is busy while a topic is lost and filled again misses nothing', async (t) => {
  const { events, journal, happen } = await logged(many)
  const bus = await openKafkaBus(t, { journal })
  const handled = counting(events)
  const lost = await happen(many)
  const missed = counting(lost)
  const gate = new EventTarget()
  const isOpen = once(gate, 'open')
  await bus.subscribe(newGroup(), async (some) => {
    await handled.take(some)
    if (handled.got.length >= many) await isOpen
    await missed.take(some)
  })
  await publish(bus, events)
  await handled.until(many)
  await publish(bus, lost)
  await outgrow(t, bus, await happen(many))
  gate.dispatchEvent(new Event('open'))
  await missed.until(many)
  t.same(new Set(missed.got), new Set(idsOf(lost)))
})

t.test('what is told after the log was read, and lost again, is read from the log as well', async (t) => {
  const { events, journal, happen, pool } = await logged(many)
  const bus = await openKafkaBus(t, { journal })
  const group = newGroup()
  const first = await bus.subscribe(group, async () => undefined)
  await publish(bus, events)
  await eventually(
    () => Promise.all(Array.from({ length: 12 }, (_, partition) => journal.handled(group, partition))),
    (places) => places.every((place) => place !== undefined && place.nextOffset !== '0'),
  )
  await first.close()
  const told = await happen(1)
  await publish(bus, told)
  // The relay is behind the log.
  const late = await happen(20)
  await pool.query('delete from public_events where id = any($1)', [idsOf(late)])
  await loseTopic(t)
  await bus.ping()
  const read = counting(told)
  const second = await bus.subscribe(group, read.take)
  await read.until(1)
  await second.close()
  await keepPublicEvents(
    pool,
    late.map((event) => ({ ...event, createdAt: '2026-01-01T12:00:00.000Z' })),
  )
  await publish(bus, late)
  await loseTopic(t)
  await bus.ping()
  const missed = counting(late)
  await bus.subscribe(group, missed.take)
  await missed.until(20)
  t.same(new Set(missed.got), new Set(idsOf(late)))
})

t.test('a partition that the next topic has not is read from the log, too', async (t) => {
  const { bus, group, journal, happen, lost, readsLost } = await away(t)
  // One partition is ahead of the others.
  const ahead = (await journal.handled(group, 0))!
  const [size] = await sizeOf(await openAdmin(t))
  await journal.note(group, 0, { ...ahead, nextOffset: String(size), position: lost.at(-1)!.position })
  const admin = await loseTopic(t)
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false })
  t.teardown(() => admin.deleteTopics({ topics: [topic] }))
  await publish(bus, await happen(1))
  await readsLost()
})

/** Of the last message, where all are in one partition. */
async function lastGeneration(t: Test): Promise<string | undefined> {
  const kafka = new Kafka({ brokers: [await testBroker()], logLevel: logLevel.NOTHING })
  const consumer = kafka.consumer({ groupId: newGroup() })
  const count = (await sizeOf(await openAdmin(t))).reduce((sum, size) => sum + size)
  const generations: (string | undefined)[] = []
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) =>
      void generations.push(message.headers?.['ikw-generation']?.toString()),
  })
  await eventually(
    async () => generations.length,
    (length) => length === count,
  )
  await consumer.disconnect()
  return generations.at(-1)
}

t.test('a relay that leads again marks messages as the one does that led meanwhile', async (t) => {
  const { events, journal, happen } = await logged(1)
  const [relay, other] = [await openKafkaBus(t, { journal }), await openKafkaBus(t, { journal })]
  // So that offsets are low, and tell the relay nothing later.
  await loseTopic(t)
  await publish(relay, events)
  await loseTopic(t)
  await publish(other, events)
  await publish(relay, await happen(1))
  const { generation } = await journal.published()
  t.equal(await lastGeneration(t), String(generation))
})
