import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql'

/*
 * Plain JavaScript with packages of its own: neither the service nor its type check knows of them.
 */

/**
 * Opens Emmett's store through the given pool of `pg`.
 *
 * @param {string} url connection string
 * @param {import('pg').Pool} pool
 */
export async function openEmmett(url, pool) {
  const store = getPostgreSQLEventStore(url, { connectionOptions: { pooled: true, pool } })
  await store.schema.migrate()
  /** @type {Map<string, bigint>} */
  const versions = new Map()
  return {
    /**
     * Appends one event where the stream is expected to end.
     *
     * @param {string} stream
     * @param {{ type: string, data: object, metadata: object }} event
     */
    async append(stream, { type, data, metadata }) {
      const options = { expectedStreamVersion: versions.get(stream) ?? 'STREAM_DOES_NOT_EXIST' }
      const event = { type, data: { ...data }, metadata: { ...metadata } }
      const { nextExpectedStreamVersion } = await store.appendToStream(stream, [event], options)
      versions.set(stream, nextExpectedStreamVersion)
    },
    close: () => store.close(),
  }
}
