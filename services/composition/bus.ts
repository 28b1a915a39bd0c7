import { ConfigurationError } from '../../infra/configuration.ts'
import { InProcessBus } from '../../infra/event-bus/in-process.ts'
import { openKafkaBus, topic } from '../../infra/event-bus/kafka.ts'
import { parkMessage } from '../../infra/postgres/consumers/parked.ts'
import type { EventBus } from '../../packages/kernel/message-ports.ts'
import type { Runtime } from './dependencies.ts'
import { tracedBus } from './traced.ts'
import { waitForEngine } from './wait-for-engine.ts'

/** The bus that its settings name; in process only where all who use it are in this process. */
export async function openBus(
  runtime: Runtime,
  { isShared }: { readonly isShared: boolean },
): Promise<EventBus> {
  const { configuration, postgres, dependencies, health } = runtime
  const { kafkaBrokers: brokers, instance } = configuration
  const { tracing } = dependencies
  const traced = (bus: EventBus) => (tracing ? tracedBus(bus, tracing) : bus)
  if (brokers === undefined) {
    if (isShared) throw new ConfigurationError(needsKafka)
    return traced(new InProcessBus())
  }
  const open = () =>
    openKafkaBus({
      brokers,
      clientId: `ikw-${instance}`,
      log: dependencies.log,
      park: (group, poison) => parkMessage(postgres.pool, { group, topic, ...poison }),
    })
  const bus = await waitForEngine(open, configuration.startWaitSeconds)
  health.depend({ name: 'kafka', ping: () => bus.ping() })
  return traced(bus)
}

const needsKafka =
  'KAFKA_BROKERS must be set where services run apart (make kafka starts a broker on this machine): ' +
  'the bus in process reaches no other process'
