import { randomUUID } from 'node:crypto'
import file, { type Test } from 'tap'
import { kafkaBus, openBrokers, type KafkaBus } from '../../../infra/event-bus/kafka.ts'
import { postgresBusJournal } from '../../../infra/postgres/webhooks/bus-journal.ts'
import { testDatabase } from '../postgres.ts'
import { allHappened, webhookFixture } from '../webhooks.ts'
import { testBroker } from './kafka.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
/** Of what other tests have left in the topic, nothing is kept. */
const forget = async () => undefined

export type KafkaBusOptions = Partial<Parameters<typeof openBrokers>[0] & Parameters<typeof kafkaBus>[1]>

/** What a group has handled is in a database that all buses of a file share. */
let database: ReturnType<typeof testDatabase> | undefined
const branch = randomUUID()

export async function busOptions(options: KafkaBusOptions = {}) {
  const { pool } = await (database ??= testDatabase(file))
  const journal = postgresBusJournal({ pool, store: { readAll: async () => [] } })
  const brokers = options.brokers ?? [await testBroker()]
  return { clientId: 'test', branch, journal, park: forget, log: silent, ...options, brokers }
}

/** A process on a bus: its own broker's, or that of the file. */
export async function openKafkaBus(t: Test, options: KafkaBusOptions = {}): Promise<KafkaBus> {
  const given = await busOptions(options)
  const brokers = await openBrokers(given)
  const bus = kafkaBus(brokers, given)
  t.teardown(() => bus.close().then(() => brokers.close()))
  return bus
}

/** Events of a log, kept as the relay keeps them, and a journal that reads this log. */
export async function logged(count: number) {
  const fixture = await webhookFixture()
  const happen = (count: number) =>
    allHappened(
      fixture,
      Array.from({ length: count }, (_, number) => ({ resource: `payout/${number}` })),
    )
  return { events: await happen(count), journal: postgresBusJournal(fixture), pool: fixture.pool, happen }
}
