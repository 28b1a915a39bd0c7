import { ConfigurationError } from '../../infra/configuration.ts'
import { InProcessBus } from '../../infra/event-bus/in-process.ts'
import type { Brokers, KafkaBus } from '../../infra/event-bus/kafka.ts'
import type { Poison } from '../../infra/event-bus/kafka-messages.ts'
import { parkMessage } from '../../infra/postgres/consumers/parked.ts'
import { keptHistory } from '../../infra/postgres/history/history.ts'
import { postgresBusJournal } from '../../infra/postgres/webhooks/bus-journal.ts'
import { publicSources } from '../../packages/domain/index.ts'
import type { EventBus } from '../../packages/kernel/ports/messages.ts'
import type { Runtime } from './dependencies.ts'
import { tracedBus } from './observing/traced.ts'

/** The bus named by the settings; in-process only where all its users are in this process. */
export async function openBus(
  runtime: Runtime,
  { isShared }: { readonly isShared: boolean },
): Promise<EventBus> {
  const { configuration, dependencies, health, brokers } = runtime
  const { tracing } = dependencies
  const traced = (bus: EventBus) => (tracing ? tracedBus(bus, tracing) : bus)
  if (configuration.kafkaBrokers === undefined) {
    if (isShared) throw new ConfigurationError(needsKafka)
    return traced(new InProcessBus())
  }
  if (!brokers) throw new TypeError('the runtime was opened without its bus')
  const bus = await openOn(brokers, runtime)
  health.depend({ name: 'kafka', ping: () => bus.ping() })
  return traced(bus)
}

async function openOn(brokers: Brokers, { postgres, dependencies }: Runtime): Promise<KafkaBus> {
  const { kafkaBus, topic } = await import('../../infra/event-bus/kafka.ts')
  const { log, store } = dependencies
  const { pool } = postgres
  const { branch } = await keptHistory(pool)
  const categories = publicSources.map(({ decider }) => decider.category)
  const journal = postgresBusJournal({ pool, store, categories })
  const park = (group: string, poison: Poison) => parkMessage(pool, { group, topic, ...poison })
  return kafkaBus(brokers, { branch, journal, park, log })
}

const needsKafka =
  'KAFKA_BROKERS must be set where services run apart (make kafka starts a broker on this machine): ' +
  'the bus in process reaches no other process'
