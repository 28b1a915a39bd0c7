import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql'
import { peerPool, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/contest.ts'
import { keepInFlight } from '../support/in-flight.ts'
import { inFlightMax, ourAppends, sampleEvent, streamOf } from '../support/appends.ts'

export const append: Row = {
  name: 'append',
  ours: 'event store port: one event, 64 in flight over 10,000 streams, version-checked',
  peer: '@event-driven-io/emmett-postgresql appendToStream',
  unit: 'appends/s',
  target: { least: 12 },
  prepare,
}

const poolMax = 16

async function prepare(bench: Bench): Promise<Contest> {
  const ours = await ourAppends(bench, 'bench_append')
  const database = await bench.database('bench_emmett')
  const pool = peerPool(database, poolMax)
  const store = getPostgreSQLEventStore(database.url, { connectionOptions: { pooled: true, pool } })
  await store.schema.migrate()
  const versions = new Map<string, bigint>()
  const work = async (worker: number) => {
    const stream = streamOf(worker)
    const { type, data, metadata } = sampleEvent(stream)
    const options = { expectedStreamVersion: versions.get(stream) ?? ('STREAM_DOES_NOT_EXIST' as const) }
    const event = { type, data: { ...data }, metadata: { ...metadata } }
    const { nextExpectedStreamVersion } = await store.appendToStream(stream, [event], options)
    versions.set(stream, nextExpectedStreamVersion)
  }
  return {
    ours: () => ours.measure(bench.scale),
    peer: () => keepInFlight({ ...bench.scale, workers: inFlightMax, work }),
    note: () => `one process on each side; Emmett with a pool of ${poolMax}`,
    async close() {
      await ours.close()
      await store.close()
      await pool.end()
      await database.drop()
    },
  }
}
