import { setTimeout as pause } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import type { StoredEvent, Subscription, SubscriptionOptions } from '../../../packages/kernel/ports.ts'
import { serverFilter, storedEvent } from './events.ts'
import { Feed, type Resolved } from './feed.ts'
import type { Places } from './places.ts'
import { restAfter } from '../rest.ts'

const retryMs = { first: 100, most: 5_000 }

/**
 * A catch-up subscription to the log that lasts. The client does not resubscribe, and shows an end from the
 * server's side as a normal end: end and error alike are followed by a new subscription behind the last event
 * that was handled.
 */
export class EventStoreDbSubscription implements Subscription {
  readonly #client: EventStoreDBClient
  readonly #places: Places
  readonly #options: SubscriptionOptions
  readonly #stopping = new AbortController()
  readonly #stopped: Promise<void>
  #feed: Feed | undefined
  #position: number
  #delayMs = retryMs.first

  constructor(client: EventStoreDBClient, places: Places, options: SubscriptionOptions) {
    this.#client = client
    this.#places = places
    this.#options = options
    this.#position = options.after
    this.#stopped = this.#run()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    this.#feed?.close()
    await this.#stopped
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#follow()
      } catch (error) {
        await this.#pauseAfter(error)
      }
    }
  }

  /** One subscription of the client, from the last handled event on; throws when it ends. */
  async #follow(): Promise<void> {
    const { batchSize, everyMs = 0 } = this.#options
    const fromPosition = this.#places.startBehind(this.#position)
    const options = { fromPosition, filter: serverFilter(this.#options) }
    const feed = Feed.ofSubscription(this.#client.subscribeToAll(options, { highWaterMark: batchSize }))
    this.#feed = feed
    try {
      while (!this.#stopping.signal.aborted) {
        const batch = await feed.take(batchSize)
        const startedAt = performance.now()
        if (batch.length > 0) await this.#handle(this.#behind(batch))
        else if (!this.#stopping.signal.aborted) throw new Error('EventStoreDB ended the subscription')
        const events = batch.length
        if (events < batchSize) await restAfter({ events, startedAt }, everyMs, this.#stopping.signal)
      }
    } finally {
      feed.close()
    }
  }

  /** Where the history was copied, a subscription begins somewhat earlier. */
  #behind(batch: readonly Resolved[]): readonly StoredEvent[] {
    const events = batch.map((event) => storedEvent(event, this.#places))
    return events.filter(({ position }) => position > this.#position)
  }

  /** Handles a batch until it is done; only then is its last event the position to go on from. */
  async #handle(batch: readonly StoredEvent[]): Promise<void> {
    const through = batch.at(-1)?.position ?? this.#position
    while (batch.length > 0 && !this.#stopping.signal.aborted) {
      try {
        await this.#options.handle(batch, through)
        this.#position = through
        this.#delayMs = retryMs.first
        return
      } catch (error) {
        await this.#pauseAfter(error)
      }
    }
  }

  /** Pauses grow until a batch was handled. */
  async #pauseAfter(error: unknown): Promise<void> {
    const { signal } = this.#stopping
    if (signal.aborted) return
    this.#options.onError?.(error)
    await pause(this.#delayMs, undefined, { signal }).catch(() => undefined)
    this.#delayMs = Math.min(2 * this.#delayMs, retryMs.most)
  }
}
