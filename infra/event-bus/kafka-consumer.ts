import { setTimeout as pause } from 'node:timers/promises'
import type { Admin, Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'
import type { BusJournal, PublicEvent } from '../../packages/kernel/ports/messages.ts'
import type { Log } from '../../packages/kernel/ports.ts'
import { groupIdOf, MissedMessages } from './kafka-gaps.ts'
import { branchHeader, decode, generationHeader, type Poison } from './kafka-messages.ts'

export interface MemberOptions {
  readonly kafka: Kafka
  readonly admin: Admin
  readonly topic: string
  readonly group: string
  readonly branch: string
  readonly journal: BusJournal
  readonly handle: (events: readonly PublicEvent[]) => Promise<void>
  readonly park: (poison: Poison) => Promise<void>
  readonly log: Log
}

const batchMax = 500
const sessionTimeoutMs = 10_000
const rebalanceTimeoutMs = 30_000
const heartbeatMs = 2_000
/** How long an idle broker holds a fetch; closing waits for its answer. */
const waitMs = 500
const retryMs = { first: 100, most: 5_000 }

/**
 * One consumer of a group. Offsets are committed when the handler has resolved: after a crash or a rebalance
 * messages come again, and the handler recognises them.
 */
export class KafkaGroupMember {
  readonly #options: MemberOptions
  readonly #closing = new AbortController()
  #consumer: Consumer | undefined
  readonly #missed: MissedMessages
  /** Gaps of the assigned partitions have been filled. */
  #filled: Promise<void> = Promise.resolve()
  #reopening: Promise<void> = Promise.resolve()

  constructor(options: MemberOptions) {
    this.#options = options
    this.#missed = new MissedMessages(options)
  }

  async open(): Promise<void> {
    const { kafka, topic, group } = this.#options
    const consumer = kafka.consumer({
      groupId: groupIdOf(group),
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      heartbeatInterval: heartbeatMs,
      maxWaitTimeInMs: waitMs,
      allowAutoTopicCreation: false,
      // kafkajs retries after some failures and gives up after others; here it is restarted in both cases.
      retry: { restartOnFailure: async () => false },
    })
    this.#consumer = consumer
    consumer.on(consumer.events.CRASH, ({ payload }) => this.#reopen(consumer, payload.error))
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      const partitions = payload.memberAssignment[topic] ?? []
      this.#filled = this.#filled.then(() => this.#fill(consumer, partitions))
    })
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => this.#eachBatch(consumer, payload),
    })
  }

  /** Waits for the batch in hand. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#consumer?.disconnect()
    await this.#reopening
    await this.#filled
  }

  /** Retries until it is done or the partitions are revoked. */
  async #fill(consumer: Consumer, partitions: readonly number[]): Promise<void> {
    for (let delayMs = retryMs.first; !this.#closing.signal.aborted; delayMs = longer(delayMs)) {
      if (this.#consumer !== consumer) return
      try {
        return await this.#missed.onAssigned(partitions)
      } catch (error) {
        const { log, group } = this.#options
        log.warn({ error, group }, 'looking for messages that are gone failed, and is tried again')
      }
      await this.#pause(delayMs)
    }
  }

  #reopen(crashed: Consumer, error: unknown): void {
    if (this.#consumer !== crashed) return
    this.#options.log.warn({ error, group: this.#options.group }, 'consuming from Kafka starts over')
    this.#reopening = this.#reopenAfterPauses()
  }

  async #reopenAfterPauses(): Promise<void> {
    for (let delayMs = retryMs.first; !this.#closing.signal.aborted; delayMs = longer(delayMs)) {
      await this.#pause(delayMs)
      if (this.#closing.signal.aborted) return
      const failed = await this.open().then(
        () => false,
        () => true,
      )
      if (!failed) return
      await this.#consumer?.disconnect().catch(() => undefined)
    }
  }

  async #eachBatch(consumer: Consumer, payload: EachBatchPayload): Promise<void> {
    const { batch, heartbeat, resolveOffset, isRunning, isStale } = payload
    const { topic, partition, messages } = batch
    for (let start = 0; start < messages.length; start += batchMax) {
      if (!isRunning() || isStale()) return
      const some = messages.slice(start, start + batchMax)
      if (!(await this.#untilHandled(some, payload))) return
      const { offset } = some.at(-1)!
      resolveOffset(offset)
      await consumer.commitOffsets([{ topic, partition, offset: String(BigInt(offset) + 1n) }])
      await heartbeat()
    }
  }

  /** False when the consumer is closed first; throws when the partitions may have been reassigned. */
  async #untilHandled(messages: readonly KafkaMessage[], payload: EachBatchPayload): Promise<boolean> {
    const { batch, heartbeat, isRunning } = payload
    let failure: unknown
    // Heartbeats, or the broker takes the consumer for dead while its handler works.
    const beating = setInterval(
      () => void heartbeat().catch((error: unknown) => (failure = error)),
      heartbeatMs,
    )
    try {
      for (let delayMs = retryMs.first; isRunning(); delayMs = longer(delayMs)) {
        if (await this.#isHandled(messages, batch.partition)) return true
        await this.#pause(delayMs)
        if (failure) throw failure
      }
      return false
    } finally {
      clearInterval(beating)
    }
  }

  async #isHandled(messages: readonly KafkaMessage[], partition: number): Promise<boolean> {
    const { handle, log, group, branch } = this.#options
    try {
      await this.#filled
      const generation = generationOf(messages.filter(({ headers }) => isOf(branch, headers)))
      await this.#missed.onMessages(partition, { offset: BigInt(messages[0]!.offset), generation })
      const events = await this.#readable(messages, partition)
      if (events.length > 0) await handle(events)
      const newest = events.reduce((most, { position }) => Math.max(most, position), 0)
      const next = { offset: BigInt(messages.at(-1)!.offset) + 1n, generation }
      await this.#missed.onHandled(partition, next, newest || undefined)
      return true
    } catch (error) {
      log.warn({ error, group }, 'handling messages failed, and is tried again')
      return false
    }
  }

  async #readable(messages: readonly KafkaMessage[], partition: number): Promise<readonly PublicEvent[]> {
    const events: PublicEvent[] = []
    const { branch, group, log } = this.#options
    const ours = messages.filter(({ headers }) => isOf(branch, headers))
    if (ours.length < messages.length)
      log.warn({ group, messages: messages.length - ours.length }, 'messages of another history are left out')
    for (const { value, offset, headers } of ours) {
      const event = decode(value, headers?.['traceparent']?.toString())
      if (!('reason' in event)) {
        events.push(event)
        continue
      }
      const poison = { partition, offset, reason: event.reason }
      log.error({ ...poison, group }, 'parked')
      await this.#options.park(poison)
    }
    return events
  }

  async #pause(delayMs: number): Promise<void> {
    await pause(delayMs, undefined, { signal: this.#closing.signal }).catch(() => undefined)
  }
}

/** The newest of these messages' topics. Older relays name none. */
function generationOf(messages: readonly KafkaMessage[]): number {
  const generations = messages.map(({ headers }) => Number(headers?.[generationHeader]?.toString() ?? 0))
  return generations.reduce((most, generation) => Math.max(most, generation), 0)
}

/** Messages of older relays name no history. */
function isOf(branch: string, headers: KafkaMessage['headers']): boolean {
  return (headers?.[branchHeader]?.toString() ?? branch) === branch
}

function longer(delayMs: number): number {
  return Math.min(2 * delayMs, retryMs.most)
}
