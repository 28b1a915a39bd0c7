import { Kafka, logLevel, Partitioners } from 'kafkajs'
import t, { type Test } from 'tap'
import { openKafkaBus, topic, type KafkaBus } from '../../infra/event-bus/kafka.ts'
import { newClusterId, startBroker } from '../../infra/kafka/broker.ts'
import { listParked, parkMessage } from '../../infra/postgres/consumers/parked.ts'
import { eventBusSuite, eventsOf, Inbox, newGroup, publicEvent, publish } from '../support/event-bus-suite.ts'
import { eventually } from '../support/eventually.ts'
import { startTestBroker, testBroker } from '../support/kafka.ts'
import { brokerJars } from '../support/root.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
/** Of what other tests have left in the topic, nothing is kept. */
const forget = async () => undefined

type Park = Parameters<typeof openKafkaBus>[0]['park']

async function open(
  t: Test,
  { address, park = forget }: { address?: string; park?: Park } = {},
): Promise<KafkaBus> {
  const brokers = [address ?? (await testBroker())]
  const bus = await openKafkaBus({ brokers, clientId: 'test', park, log: silent })
  t.teardown(() => bus.close())
  return bus
}

/** Messages as somebody else might send them, all to one partition; answers where each of them is. */
async function send(values: readonly string[]): Promise<readonly string[]> {
  const kafka = new Kafka({ brokers: [await testBroker()], logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const [sent] = await producer.send({ topic, messages: values.map((value) => ({ key: 'one', value })) })
  await producer.disconnect()
  return values.map((_, index) => `${topic}/${sent!.partition}/${Number(sent!.baseOffset) + index}`)
}

eventBusSuite(t, { open })

t.test('two processes of a group share the work', async (t) => {
  const [publisher, ...members] = await Promise.all([open(t), open(t), open(t)])
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
  const bus = await open(t)
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
  const park: Park = (group, poison) => parkMessage(pool, { group, topic, ...poison })
  const bus = await open(t, { park })
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

t.test('a broker that is killed and comes back is found again', async (t) => {
  const directory = temporaryDirectory(t)
  const broker = await startTestBroker(t, directory)
  const bus = await open(t, { address: broker.address })
  const published = eventsOf(6, 4)
  const inbox = new Inbox(published)
  await bus.subscribe(newGroup(), async (events) => void inbox.take(events))
  await publish(bus, published.slice(0, 12))
  await eventually(
    async () => inbox.events.length,
    (count) => count === 12,
  )
  process.kill(broker.pid, 'SIGKILL')
  await eventually(
    () =>
      bus.ping().then(
        () => true,
        () => false,
      ),
    (isUp) => !isUp,
  )
  const port = Number(broker.address.split(':')[1])
  const again = await startBroker({ directory, jars: brokerJars, port })
  t.equal(again.address, broker.address)
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
  const opening = openKafkaBus({ brokers: ['127.0.0.1:9'], clientId: 'test', park: forget, log: silent })
  await t.rejects(opening, {
    message: /^Kafka at 127\.0\.0\.1:9 cannot be reached, see KAFKA_BROKERS: [^\n]+$/,
  })
})
