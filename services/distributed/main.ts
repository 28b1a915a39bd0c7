import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environmentWith, type Configuration } from '../../infra/configuration.ts'
import { startBroker } from '../../infra/kafka/broker.ts'
import { firstMerchant } from '../composition/first-merchant.ts'
import { openRuntime, type Runtime } from '../composition/dependencies.ts'
import { closeInTurn, orClose, part } from '../composition/closing.ts'
import { run, warnOfLimitations } from '../composition/serve.ts'
import { Child } from './child.ts'

const services = ['api', 'processes', 'projector', 'relay', 'notary', 'webhooks'] as const
type Service = (typeof services)[number]

const kafkaPort = 9092

/** All services as separate processes on this machine: engines not set are started or found here. */
await run(async (configuration, ending) => {
  warnOfLimitations(configuration, { isApart: true })
  const kafka = await findKafka(configuration)
  const broker = part('Kafka', { close: kafka.stop })
  const runtime = await orClose(broker, () => openRuntime(configuration, { ending }))
  const behind = { close: () => closeInTurn(runtime, broker) }
  const setUp = () => firstMerchant(runtime, configuration.dataDirectory, ending)
  const credentials = await orClose(behind, setUp)
  introduce(runtime, kafka.brokers, credentials.sandbox_key)
  const children = services.flatMap((service) => copiesOf(service, runtime, kafka.brokers))
  return () =>
    closeInTurn(
      children.map((child) => part(child.name, { close: () => child.stop() })),
      behind,
    )
})

interface Kafka {
  readonly brokers: string
  /** Stops a broker that was started here. */
  stop(): Promise<void>
}

async function findKafka({ kafkaBrokers, dataDirectory }: Configuration): Promise<Kafka> {
  if (kafkaBrokers) return { brokers: kafkaBrokers.join(','), stop: async () => undefined }
  const directory = join(dataDirectory, 'kafka')
  const jars = join(dataDirectory, 'kafka-jars')
  const { address, isNew, stop } = await startBroker({ directory, jars, port: kafkaPort })
  return { brokers: address, stop: isNew ? stop : async () => undefined }
}

function copiesOf(service: Service, { configuration, postgres }: Runtime, brokers: string): readonly Child[] {
  return Array.from({ length: configuration.copies }, (_, index) => {
    const name = configuration.copies === 1 ? service : `${service} ${index + 1}`
    const port = configuration.port === 0 ? 0 : configuration.port + index
    // Copies of the API listen on consecutive ports; other services answer health requests on any free port.
    const ports = { PORT: String(service === 'api' ? port : configuration.port), HEALTH_PORT: '0' }
    const bases = { BASE_URL: configuration.baseUrl, INSTANCE: name.replace(' ', '-') }
    const places = { POSTGRES_URL: postgres.url, KAFKA_BROKERS: brokers }
    return new Child({
      name,
      file: fileOf(service),
      environment: environmentWith({ ...ports, ...bases, ...places }),
      drainSeconds: configuration.drainSeconds,
    })
  })
}

/** Like this file: compiled or not. */
function fileOf(service: Service): string {
  return fileURLToPath(new URL(`../${service}/serve${import.meta.url.slice(-3)}`, import.meta.url))
}

function introduce({ configuration }: Runtime, brokers: string, sandboxKey: string): void {
  const { postgresUrl, eventStoreUrl, dataDirectory, baseUrl, copies } = configuration
  const embedded = `embedded, in ${dataDirectory}/postgres`
  process.stdout.write(`
  ikw-payments   ${baseUrl}   (each service apart, ${copies} of each)
  events         ${eventStoreUrl === undefined ? 'embedded event store on the same Postgres' : 'EventStoreDB'}
  read models    ${postgresUrl === undefined ? `PostgreSQL, ${embedded}` : 'PostgreSQL, POSTGRES_URL'}
  bus            Kafka, ${brokers}
  sandbox key    ${sandboxKey}   (all keys: ${dataDirectory}/credentials.json)

`)
}
