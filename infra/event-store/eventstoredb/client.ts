import { EventStoreDBClient } from '@eventstore/db-client'
import { within } from './errors.ts'

const disconnectTimeoutMs = 1_000
const examples = 'esdb://host:2113?tls=false or esdb+discover://host:2113'

/** The client's own message repeats part of the URL, which may contain a password. */
export function clientFor(url: string): EventStoreDBClient {
  try {
    const client = EventStoreDBClient.connectionString(url)
    const reconnect = client['handleError']
    // Protected in the client. It leaves this promise unhandled: if no cluster could be found, the process
    // would end.
    client['handleError'] = (...failure) => reconnect(...failure).catch(() => undefined)
    return client
  } catch (error) {
    const expected = /, expected (.*)$/s.exec(messageOf(error))?.[1]
    const reason = expected ? `expected ${expected.replace(/\.$/, '')}` : messageOf(error)
    throw new Error(`the url of EventStoreDB must look like ${examples}: ${reason}`)
  }
}

export async function disconnect(client: EventStoreDBClient): Promise<void> {
  await client.dispose()
  // Protected in the client, and the only way: `dispose` leaves the connection open. There may be none, and
  // no server for one.
  const disconnected = client['getChannel']().then((channel) => channel.close())
  await within(disconnectTimeoutMs, disconnected).catch(() => undefined)
}

export function hostsOf(url: string): string {
  return url.replace(/^[^:]+:\/\/(?:[^@]*@)?/, '').replace(/[/?].*$/s, '')
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
