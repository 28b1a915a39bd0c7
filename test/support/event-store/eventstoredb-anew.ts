import { EventStoreDBClient, jsonEvent, NO_STREAM, type JSONType } from '@eventstore/db-client'
import { EventStoreDbPeer } from '../eventstoredb-peer/peer.ts'

/** An event as anybody reads it who may read the server. */
export interface ServerRecord {
  readonly stream: string
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
}

/** What a server begins with is none of its history. */
const isOfServer = ({ stream }: ServerRecord) => stream.startsWith('$')

/** Reads all that a server holds through its protocol. */
export async function recordsOf(url: string): Promise<readonly ServerRecord[]> {
  const client = EventStoreDBClient.connectionString(url)
  const records: ServerRecord[] = []
  try {
    for await (const { event } of client.readAll()) {
      if (!event) continue
      const { streamId: stream, id, type, data, metadata } = event
      records.push({ stream, id, type, data: data as object, metadata: metadata as object } as ServerRecord)
    }
    return records.filter((record) => !isOfServer(record))
  } finally {
    await client.dispose()
  }
}

/** Appends through the protocol, one by one and in this order, behind those that are there. */
export async function append(
  url: string,
  records: readonly ServerRecord[],
  there: readonly ServerRecord[] = [],
): Promise<void> {
  const client = EventStoreDBClient.connectionString(url)
  const revisions = new Map<string, bigint>()
  for (const { stream } of there) revisions.set(stream, (revisions.get(stream) ?? -1n) + 1n)
  try {
    for (const { stream, id, type, data, metadata } of records) {
      const event = jsonEvent({ id, type, data: data as JSONType, metadata: metadata as JSONType })
      const expectedRevision = revisions.get(stream) ?? NO_STREAM
      const { nextExpectedRevision } = await client.appendToStream(stream, event, { expectedRevision })
      revisions.set(stream, nextExpectedRevision)
    }
  } finally {
    await client.dispose()
  }
}

/** Another server with this history, changed: what one does to a log that cannot be changed in place. */
export async function writtenAnew(
  from: EventStoreDbPeer,
  change: (records: readonly ServerRecord[]) => readonly ServerRecord[],
): Promise<EventStoreDbPeer> {
  const other = await EventStoreDbPeer.start()
  await append(other.url, change(await recordsOf(from.url)))
  return other
}
