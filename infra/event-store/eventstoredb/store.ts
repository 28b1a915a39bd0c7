import type { EventStore, SubscriptionOptions } from '../../../packages/kernel/ports.ts'
import { readInPages } from '../../../packages/kernel/pages.ts'
import { Appender } from './appender.ts'
import { clientFor, disconnect, hostsOf, messageOf } from './client.ts'
import { Places } from './places.ts'
import { Reader } from './reader.ts'
import { EventStoreDbSubscription } from './subscription.ts'
import { OpenSubscriptions } from '../open-subscriptions.ts'

export interface EventStoreDbOptions {
  /** `esdb://host:2113` for one node, `esdb+discover://host:2113` for a cluster; options follow a `?`. */
  readonly url: string
  /** So long an append may take before its outcome counts as unknown. */
  readonly appendTimeoutMs?: number
}

/** An event store that knows which history it holds. */
export interface EventStoreDb extends EventStore {
  readonly history: Places
  /** Gives the history an id if it has none: the first time that a service starts on this store. */
  beginHistory(id: string): Promise<void>
}

/** Of a long read: each page is a subscription of its own. */
const eventsPerPage = 5_000

/** The event store on an EventStoreDB server or cluster, 23.10 or later. Throws when it cannot be reached. */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStoreDb> {
  const { url, appendTimeoutMs = 5_000 } = options
  const client = clientFor(url)
  const places = await known(client, url)
  const reader = new Reader(client, places)
  const readStream = reader.readStream.bind(reader)
  const appender = new Appender({ client, places, timeoutMs: appendTimeoutMs, readStream })
  const subscriptions = new OpenSubscriptions()

  return {
    append: (stream, expected, events) => appender.append(stream, expected, events),
    readStream,
    readAll: (after, limit, filter) => reader.readAll(after, limit, filter),
    readOn: (after) => readInPages(reader, after, eventsPerPage),
    head: () => reader.head(),
    subscribe,
    ping: () => reader.ping(),
    close,
    history: places,
    beginHistory: (id) => places.begin(client, id),
  }

  function subscribe(options: SubscriptionOptions) {
    return subscriptions.add(new EventStoreDbSubscription(client, places, options))
  }

  async function close(): Promise<void> {
    await Promise.all([appender.close(), subscriptions.close()])
    reader.close()
    await disconnect(client)
  }
}

type Client = ReturnType<typeof clientFor>

async function known(client: Client, url: string): Promise<Places> {
  const reader = new Reader(client, new Places())
  try {
    await reader.ping()
    return await Places.read(client)
  } catch (error) {
    reader.close()
    await disconnect(client)
    throw new Error(`EventStoreDB at ${hostsOf(url)} cannot be reached: ${messageOf(error)}`)
  }
}
