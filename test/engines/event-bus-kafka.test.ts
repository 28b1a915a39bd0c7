import { randomUUID } from 'node:crypto'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import t from 'tap'
import { openBrokers, topic } from '../../infra/event-bus/kafka.ts'
import { kafkaSecurity } from '../../infra/event-bus/kafka-security.ts'
import { freePort, newClusterId, startBroker } from '../../infra/kafka/broker.ts'
import { listParked, parkMessage } from '../../infra/postgres/consumers/parked.ts'
import {
  counting,
  eventBusSuite,
  eventsOf,
  idsOf,
  Inbox,
  newGroup,
  publicEvent,
  publish,
} from '../support/event-store/event-bus-suite.ts'
import { killBroker } from '../support/processes/broker-process.ts'
import { testCertificate } from '../support/network/certificate.ts'
import { eventually } from '../support/eventually.ts'
import { committed, deleteMessages, startTestBroker, testBroker } from '../support/event-store/kafka.ts'
import { busOptions, logged, openKafkaBus, type KafkaBusOptions } from '../support/event-store/kafka-bus.ts'
import { brokerJars } from '../support/root.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

/** Messages as somebody else might send them, all to one partition; answers where each of them is. */
async function send(values: readonly string[]): Promise<readonly string[]> {
  const kafka = new Kafka({ brokers: [await testBroker()], logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const [sent] = await producer.send({ topic, messages: values.map((value) => ({ key: 'one', value })) })
  await producer.disconnect()
  return values.map((_, index) => `${topic}/${sent!.partition}/${Number(sent!.baseOffset) + index}`)
}

eventBusSuite(t, { open: openKafkaBus })

t.test('two processes of a group share the work', async (t) => {
  const [publisher, ...members] = await Promise.all([openKafkaBus(t), openKafkaBus(t), openKafkaBus(t)])
  const group = newGroup()
  const got = [new Set<string>(), new Set<string>()]
  await Promise.all(
    members.map((bus, index) =>
      bus.subscribe(group, async (events) => {
        for (const { id } of events) got[index]!.add(id)
      }),
    ),
  )
  // Until the second one has joined, the first gets everything.
  await eventually(
    async () => {
      await publish(publisher, eventsOf(40, 1))
      return got.map(({ size }) => size)
    },
    (sizes) => sizes.every((size) => size > 0),
  )
  t.ok(got.every(({ size }) => size > 0))
})

t.test('what a consumer had in hand when it ended comes to the next one', async (t) => {
  const bus = await openKafkaBus(t)
  const group = newGroup()
  const published = eventsOf(4, 2)
  const inbox = new Inbox(published)
  let tried = 0
  const first = await bus.subscribe(group, async (events) => {
    tried += inbox.take(events).length
    if (tried > 0) throw new Error('the database is away')
  })
  await publish(bus, published)
  await eventually(
    async () => tried,
    (count) => count > 0,
  )
  await first.close()
  const second = new Inbox(published)
  await bus.subscribe(group, async (events) => void second.take(events))
  await second.filled()
  t.equal(second.events.length, published.length)
})

t.test('a message that is no public event is parked, and those behind it are delivered', async (t) => {
  const { pool } = await testDatabase(t)
  const park: KafkaBusOptions['park'] = (group, poison) => parkMessage(pool, { group, topic, ...poison })
  const bus = await openKafkaBus(t, { park })
  const group = newGroup()
  const good = publicEvent('payout/1')
  const inbox = new Inbox([good])
  await bus.subscribe(group, async (events) => void inbox.take(events))
  const bad = ['{', '{"id":"evt_1"}', '', '[]']
  const places = await send([...bad, JSON.stringify(good)])
  await inbox.filled()
  const parked = (await listParked(pool)).filter(({ stream }) => places.includes(stream))
  t.same(
    parked.map(({ stream }) => stream),
    places.slice(0, bad.length),
  )
  t.ok(parked.every(({ consumer }) => consumer === `bus ${group}`))
  const reasons = parked.map(({ error }) => error)
  t.match(reasons, [/not JSON/, /not a public event/, /not JSON/, /not a public event/])
})

t.test('messages of another history are left out, and those of this one are handled', async (t) => {
  const group = newGroup()
  const [mine, other] = [eventsOf(3, 2), eventsOf(3, 2)]
  const inbox = new Inbox([...mine, ...other])
  const restored = await openKafkaBus(t, { branch: randomUUID() })
  await publish(restored, other)
  const bus = await openKafkaBus(t)
  await bus.subscribe(group, async (events) => void inbox.take(events))
  await publish(bus, mine)
  await eventually(
    async () => inbox.events.length,
    (count) => count >= mine.length,
  )
  t.same(inbox.events.map(({ id }) => id).toSorted(), mine.map(({ id }) => id).toSorted())
})

t.test('what the broker has deleted before it was handled is read from the log', async (t) => {
  // Those of other tests are of no log at all.
  await deleteMessages()
  const { events, journal, happen } = await logged(20)
  const early = counting(events)
  const bus = await openKafkaBus(t, { journal })
  const group = newGroup()
  const first = await bus.subscribe(group, early.take)
  await publish(bus, events)
  await early.until(20)
  await first.close()
  const missed = await happen(10)
  await publish(bus, missed)
  await deleteMessages()
  const late = counting(missed)
  await bus.subscribe(group, late.take)
  await late.until(10)
  t.same(new Set(late.got), new Set(idsOf(missed)), 'without any new message')
})

t.test('a group that was away before it had handled anything reads the log, once', async (t) => {
  const { events, journal } = await logged(10)
  const bus = await openKafkaBus(t, { journal })
  await publish(bus, events)
  await deleteMessages()
  const { got, take, until } = counting(events)
  await bus.subscribe(newGroup(), take)
  await until(10)
  await publish(bus, events.slice(0, 1))
  await until(11)
  t.same(got, [...idsOf(events), events[0]!.id], 'not once for each partition')
})

t.test('a group that the broker knows, and the journal does not, goes on where it was', async (t) => {
  await deleteMessages()
  // So many that there are some in each partition.
  const { events, journal, pool } = await logged(200)
  const bus = await openKafkaBus(t, { journal })
  const group = newGroup()
  const before = counting(events)
  const first = await bus.subscribe(group, before.take)
  await before.until(200)
  await publish(bus, events)
  await before.until(400)
  await eventually(
    () => committed(group),
    (offsets) => offsets.length === 12 && offsets.every((offset) => offset >= 0),
  )
  await first.close()
  await pool.query('delete from bus_journal where consumers = $1', [group])
  const after = counting(events)
  await bus.subscribe(group, after.take)
  await publish(bus, events.slice(0, 1))
  await after.until(1)
  t.same(after.got, [events[0]!.id])
})

t.test('a group whose database was restored goes on in the log from where the backup was', async (t) => {
  await deleteMessages()
  const { events, journal } = await logged(10)
  const group = newGroup()
  for (let partition = 0; partition < 12; partition++)
    await journal.note(group, partition, {
      branch: randomUUID(),
      nextOffset: '0',
      generation: 0,
      position: events[4]!.position,
    })
  const inbox = new Inbox(events)
  const bus = await openKafkaBus(t, { journal })
  await bus.subscribe(group, async (some) => void inbox.take(some))
  await eventually(
    async () => inbox.events.length,
    (length) => length >= 5,
  )
  t.same(
    inbox.events.map(({ id }) => id),
    events.slice(5).map(({ id }) => id),
  )
})

t.test('a broker that asks for TLS and a password takes those who have both', async (t) => {
  const directory = temporaryDirectory(t)
  const { certificateFile, keyStoreFile } = testCertificate(directory)
  const user = { username: 'ikw', password: 'open sesame' }
  const port = await freePort(0)
  await startTestBroker(t, directory, { port, keyStore: keyStoreFile, ...user })
  const brokers = [`127.0.0.1:${port}`]
  const files = { caFile: certificateFile, certificateFile: undefined, keyFile: undefined }
  const sasl = { mechanism: 'plain', ...user } as const
  const access = { isTls: true, ...files, sasl }
  const bus = await openKafkaBus(t, { brokers, security: kafkaSecurity(access) })
  const published = eventsOf(2, 2)
  const inbox = new Inbox(published)
  await bus.subscribe(newGroup(), async (events) => void inbox.take(events))
  await publish(bus, published)
  await inbox.filled()
  for (const wrong of [
    { ...access, sasl: { ...sasl, password: 'guess' } },
    { ...access, sasl: undefined },
    { ...access, caFile: undefined },
    { ...access, isTls: false },
  ])
    await t.rejects(openBrokers(await busOptions({ brokers, security: kafkaSecurity(wrong) })), {
      message: /cannot be reached, see KAFKA_BROKERS/,
    })
})

t.test('a broker that is killed and comes back is found again', async (t) => {
  const directory = temporaryDirectory(t)
  const broker = await startTestBroker(t, directory)
  const bus = await openKafkaBus(t, { brokers: [broker.address] })
  const published = eventsOf(6, 4)
  const inbox = new Inbox(published)
  await bus.subscribe(newGroup(), async (events) => void inbox.take(events))
  await publish(bus, published.slice(0, 12))
  await eventually(
    async () => inbox.events.length,
    (count) => count === 12,
  )
  await killBroker(broker)
  await t.rejects(bus.ping())
  const port = Number(broker.address.split(':')[1])
  const again = await startBroker({ directory, jars: brokerJars, port })
  t.match(again, { address: broker.address, isNew: true })
  await publish(bus, published.slice(12))
  await inbox.filled()
  await bus.ping()
})

t.test('the identifier of a new cluster is never taken for an option of kafka-storage', async (t) => {
  const identifier = newClusterId(Buffer.alloc(16, 0xff))
  t.match(identifier, /^[A-Za-z0-9][\w-]{21}$/)
  t.equal(Buffer.from(identifier, 'base64url').length, 16)
})

t.test('a broker that cannot be reached is told in one sentence', async (t) => {
  const opening = openBrokers(await busOptions({ brokers: ['127.0.0.1:9'] }))
  await t.rejects(opening, {
    message: /^Kafka at 127\.0\.0\.1:9 cannot be reached, see KAFKA_BROKERS: [^\n]+$/,
  })
})
