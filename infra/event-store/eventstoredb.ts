import { EventStoreDBClient } from '@eventstore/db-client'
import type { EventStore, SubscriptionOptions } from '../../packages/kernel/ports.ts'
import { Appender } from './eventstoredb-appender.ts'
import { within } from './eventstoredb-errors.ts'
import { Reader } from './eventstoredb-reader.ts'
import { EventStoreDbSubscription } from './eventstoredb-subscription.ts'

export interface EventStoreDbOptions {
  /** `esdb://host:2113` for one node, `esdb+discover://host:2113` for a cluster; options follow a `?`. */
  readonly url: string
  /** So long an append may take before its outcome counts as unknown. */
  readonly appendTimeoutMs?: number
}

const disconnectTimeoutMs = 1_000
const examples = 'esdb://host:2113?tls=false or esdb+discover://host:2113'

/** The event store on an EventStoreDB server or cluster, 23.10 or later. Throws when it cannot be reached. */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStore> {
  const { url, appendTimeoutMs = 5_000 } = options
  const client = clientFor(url)
  const reader = new Reader(client)
  const readStream = reader.readStream.bind(reader)
  const appender = new Appender({ client, timeoutMs: appendTimeoutMs, readStream })
  const subscriptions = new Set<EventStoreDbSubscription>()
  try {
    await reader.ping()
  } catch (error) {
    await close()
    throw new Error(`EventStoreDB at ${hostsOf(url)} cannot be reached: ${messageOf(error)}`)
  }

  return {
    append: (stream, expected, events) => appender.append(stream, expected, events),
    readStream,
    readAll: (after, limit, filter) => reader.readAll(after, limit, filter),
    head: () => reader.head(),
    subscribe,
    ping: () => reader.ping(),
    close,
  }

  function subscribe(options: SubscriptionOptions) {
    const subscription = new EventStoreDbSubscription(client, options)
    subscriptions.add(subscription)
    return subscription
  }

  async function close(): Promise<void> {
    await Promise.all([appender.close(), ...[...subscriptions].map((subscription) => subscription.close())])
    reader.close()
    await client.dispose()
    // Protected, and the only way: `dispose` leaves the connection open. There may be none, and no server for
    // one.
    const disconnected = client['getChannel']().then((channel) => channel.close())
    await within(disconnectTimeoutMs, disconnected).catch(() => undefined)
  }
}

/** The client's own message repeats a part of the url, where a password may stand. */
function clientFor(url: string): EventStoreDBClient {
  try {
    const client = EventStoreDBClient.connectionString(url)
    const reconnect = client['handleError']
    // Protected. The client does not wait for it: if no cluster could be found, the process would end.
    client['handleError'] = (...failure) => reconnect(...failure).catch(() => undefined)
    return client
  } catch (error) {
    const expected = /, expected (.*)$/s.exec(messageOf(error))?.[1]
    const reason = expected ? `expected ${expected.replace(/\.$/, '')}` : messageOf(error)
    throw new Error(`the url of EventStoreDB must look like ${examples}: ${reason}`)
  }
}

function hostsOf(url: string): string {
  return url.replace(/^[^:]+:\/\/(?:[^@]*@)?/, '').replace(/[/?].*$/s, '')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
