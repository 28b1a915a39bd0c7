import { BACKWARDS, END, ErrorType, type EventStoreDBClient, type ReadPosition } from '@eventstore/db-client'
import type { LogFilter, StoredEvent } from '../../../packages/kernel/ports.ts'
import { isOfType, timedOut } from './errors.ts'
import { isOfTheLog, serverFilter, storedEvent } from './events.ts'
import { Feed, type Resolved } from './feed.ts'
import type { Places } from './places.ts'

/** The client lets a read wait for ever. */
const readTimeoutMs = 30_000
const pingTimeoutMs = 5_000
const headPageSize = 50
const eventsAtOnce = 500
/** Another node may not know yet what was written last: then the client turns to the leader. */
const requiresLeader = true

type Events = readonly StoredEvent[]

interface Wanted {
  /** Left out when the server knows how many are wanted. */
  readonly most?: number
  readonly timeoutMs?: number
  /** Only these are counted and answered. */
  readonly keep?: (event: Resolved) => boolean
}

export class Reader {
  readonly #client: EventStoreDBClient
  readonly #places: Places
  readonly #open = new Set<Feed>()

  constructor(client: EventStoreDBClient, places: Places) {
    this.#client = client
    this.#places = places
  }

  async readStream(stream: string, from: number, limit = Infinity): Promise<Events> {
    if (limit <= 0) return []
    const fromRevision = BigInt(Math.max(0, from))
    const maxCount = Math.min(limit, Number.MAX_SAFE_INTEGER)
    const read = this.#client.readStream(stream, { fromRevision, maxCount, requiresLeader })
    try {
      return (await this.#collect(Feed.ofRead(read))).map((event) => this.#stored(event))
    } catch (error) {
      if (isOfType(error, ErrorType.STREAM_NOT_FOUND)) return []
      throw error
    }
  }

  /** The client filters in subscriptions only, so this is one that is left as soon as it has caught up. */
  async readAll(after: number, limit: number, filter: LogFilter = {}): Promise<Events> {
    if (limit <= 0) return []
    const fromPosition = this.#places.startBehind(after)
    const options = { fromPosition, filter: serverFilter(filter), requiresLeader }
    const highWaterMark = Math.min(limit, eventsAtOnce)
    const subscription = this.#client.subscribeToAll(options, { highWaterMark })
    const keep = (event: Resolved) => this.#stored(event).position > after
    const found = await this.#collect(Feed.untilCaughtUp(subscription), { most: limit, keep })
    return found.map((event) => this.#stored(event))
  }

  /** The server's own events, such as its statistics, are passed over. */
  async head(): Promise<number> {
    let fromPosition: ReadPosition = END
    for (;;) {
      const page = await this.#backwards(fromPosition, headPageSize)
      const newest = page.find(({ event }) => event && isOfTheLog(event.streamId))
      if (newest) return this.#stored(newest).position
      const oldest = page.at(-1)?.event?.position
      if (page.length < headPageSize || !oldest) return 0
      fromPosition = oldest
    }
  }

  async ping(): Promise<void> {
    await this.#backwards(END, 1, { timeoutMs: pingTimeoutMs })
  }

  /** Reads that are under way end with an error. */
  close(): void {
    for (const feed of this.#open) feed.close(new Error('the event store was closed during a read'))
  }

  #stored(event: Resolved): StoredEvent {
    return storedEvent(event, this.#places)
  }

  #backwards(fromPosition: ReadPosition, maxCount: number, wanted?: Wanted): Promise<readonly Resolved[]> {
    const read = this.#client.readAll({ direction: BACKWARDS, fromPosition, maxCount })
    return this.#collect(Feed.ofRead(read), wanted)
  }

  async #collect(
    feed: Feed,
    { most = Infinity, timeoutMs = readTimeoutMs, keep = () => true }: Wanted = {},
  ): Promise<readonly Resolved[]> {
    const timer = setTimeout(() => feed.close(timedOut(timeoutMs)), timeoutMs)
    this.#open.add(feed)
    try {
      const events: Resolved[] = []
      while (events.length < most) {
        const next = await feed.take(most - events.length)
        if (next.length === 0) break
        events.push(...next.filter(keep))
      }
      return events
    } finally {
      clearTimeout(timer)
      this.#open.delete(feed)
      feed.close()
    }
  }
}
