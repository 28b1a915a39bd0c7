import { Kafka, logLevel, Partitioners, type Admin, type Producer, type RecordMetadata } from 'kafkajs'
import type { BusJournal, EventBus, PublicEvent } from '../../packages/kernel/ports/messages.ts'
import type { Log, Subscription } from '../../packages/kernel/ports.ts'
import { KafkaGroupMember } from './kafka-consumer.ts'
import { TopicGeneration } from './kafka-generation.ts'
import { waitForNoTimeInThePast } from './kafka-request-queue.ts'
import type { KafkaSecurity } from './kafka-security.ts'
import { batches, encode, type Message, type Poison } from './kafka-messages.ts'

export interface BrokerOptions {
  /** `host:port` */
  readonly brokers: readonly string[]
  /** Where brokers require authentication or TLS. */
  readonly security?: KafkaSecurity | undefined
  /** Names this process to the brokers. */
  readonly clientId: string
}

/** Brokers that have answered, with the topic that the bus needs. */
export interface Brokers {
  readonly kafka: Kafka
  readonly admin: Admin
  close(): Promise<void>
}

export interface KafkaOptions {
  /** The history that messages belong to: those of another one are ignored. */
  readonly branch: string
  readonly journal: BusJournal
  /** Stores unreadable messages before later ones are handled. */
  readonly park: (group: string, poison: Poison) => Promise<void>
  readonly log: Log
}

export interface KafkaBus extends EventBus {
  /** Makes the topic again where it is lost. Throws when no broker answers. */
  ping(): Promise<void>
}

waitForNoTimeInThePast()

export const topic = 'ikw.public-events'
/**
 * The most consumers of a group that can share the work. More can be added, but then keys move to other
 * partitions.
 */
const partitions = 12
const replicasMax = 3
const connectTimeoutMs = 3_000
const requestTimeoutMs = 10_000
/** A longer outage is handled by the publisher, and by the consumer's next start. */
const retry = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4 }

/** Throws when no broker answers. */
export async function openBrokers({ brokers, clientId, security }: BrokerOptions): Promise<Brokers> {
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    connectionTimeout: connectTimeoutMs,
    requestTimeout: requestTimeoutMs,
    retry,
    ...security,
    // kafkajs logs every attempt of every connection; callers report what comes of them.
    logLevel: logLevel.NOTHING,
  })
  const admin = kafka.admin()
  try {
    await admin.connect()
    await createTopic(kafka, admin)
  } catch (error) {
    await admin.disconnect()
    const where = brokers.join(', ')
    throw new Error(`Kafka at ${where} cannot be reached, see KAFKA_BROKERS: ${(error as Error).message}`, {
      cause: error,
    })
  }
  return { kafka, admin, close: () => admin.disconnect() }
}

/** The bus on Kafka, which ends before its brokers are closed. */
export function kafkaBus(brokers: Brokers, options: KafkaOptions): KafkaBus {
  return new Bus(brokers, options)
}

/** False when it is there. */
async function createTopic(kafka: Kafka, known: Admin): Promise<boolean> {
  if ((await known.listTopics()).includes(topic)) return false
  // One that has seen the topic before wants to hear of that first, for ever.
  const admin = kafka.admin()
  try {
    await admin.connect()
    const { brokers } = await admin.describeCluster()
    const replicas = Math.min(replicasMax, brokers.length)
    // An acknowledged message survives the loss of one broker, where there are enough of them.
    const configEntries = [{ name: 'min.insync.replicas', value: String(Math.max(1, replicas - 1)) }]
    const created = { topic, numPartitions: partitions, replicationFactor: replicas, configEntries }
    return await admin.createTopics({ topics: [created], waitForLeaders: true })
  } finally {
    await admin.disconnect()
  }
}

class Bus implements KafkaBus {
  readonly #kafka: Kafka
  readonly #admin: Admin
  readonly #options: KafkaOptions
  readonly #members = new Set<KafkaGroupMember>()
  #producer: Promise<Producer> | undefined
  readonly #generation: TopicGeneration
  #turn: Promise<unknown> = Promise.resolve()

  constructor({ kafka, admin }: Brokers, options: KafkaOptions) {
    this.#kafka = kafka
    this.#admin = admin
    this.#options = options
    this.#generation = new TopicGeneration(options.journal)
  }

  /** One send at a time: concurrent ones would confuse the sequence numbers of the idempotent producer. */
  publish(events: readonly PublicEvent[]): Promise<void> {
    const published = this.#turn.then(() => this.#publish(events))
    this.#turn = published.catch(() => undefined)
    return published
  }

  async #publish(events: readonly PublicEvent[]): Promise<void> {
    const { branch } = this.#options
    const connecting = (this.#producer ??= this.#connect())
    try {
      const producer = await connecting
      await this.#generation.load()
      for (const messages of batches(events.map((event) => encode(event, branch))))
        await this.#send(producer, messages)
    } catch (error) {
      // The broker may have counted a message that this producer has not, and would refuse all further ones.
      this.#producer = undefined
      await disconnect(connecting)
      throw error
    }
  }

  async #send(producer: Producer, messages: readonly Message[]): Promise<void> {
    let sent: RecordMetadata[]
    do {
      const marked = messages.map((message) => this.#generation.mark(message))
      sent = await producer.send({ topic, messages: marked, acks: -1 })
    } while (await this.#generation.isNew(sent))
  }

  async #connect(): Promise<Producer> {
    await this.#ensureTopic()
    const producer = this.#kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      // A broker would make it with partitions and replicas of its own choice.
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      // A publisher that waits for ever could not stop; duplicates are recognised by their id.
      retry,
    })
    await producer.connect()
    return producer
  }

  async subscribe(
    group: string,
    handle: (events: readonly PublicEvent[]) => Promise<void>,
  ): Promise<Subscription> {
    const { park, log, branch, journal } = this.#options
    const member = new KafkaGroupMember({
      kafka: this.#kafka,
      admin: this.#admin,
      topic,
      group,
      branch,
      journal,
      handle,
      park: (poison) => park(group, poison),
      log,
    })
    this.#members.add(member)
    await member.open()
    const close = async () => {
      this.#members.delete(member)
      await member.close()
    }
    return { close }
  }

  async #ensureTopic(): Promise<void> {
    if (await createTopic(this.#kafka, this.#admin))
      this.#options.log.warn({ topic }, 'the topic was lost, and is made anew')
  }

  async ping(): Promise<void> {
    await this.#ensureTopic()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#members].map((member) => member.close()))
    await this.#turn
    if (this.#producer) await disconnect(this.#producer)
  }
}

async function disconnect(producer: Promise<Producer>): Promise<void> {
  // The client is not used any more, however its disconnect ends.
  await producer.then((one) => one.disconnect()).catch(() => undefined)
}
