import { peerPool, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { keepInFlight } from '../support/load/in-flight.ts'
import { inFlightMax, ourAppends, sampleEvent, streamOf } from '../support/load/appends.ts'

export const appendInsert: Row = {
  name: 'append-insert',
  ours: 'event store port: one event, 64 in flight over 10,000 streams, version-checked',
  peer: 'one plain INSERT per event through a pool of 16, no check but the unique index',
  unit: 'appends/s',
  target: { least: 2.5 },
  prepare,
}

const poolMax = 16

async function prepare(bench: Bench): Promise<Contest> {
  const ours = await ourAppends(bench, 'bench_append_ours')
  const database = await bench.database('bench_insert')
  const pool = peerPool(database, poolMax)
  await pool.query(`
    create table events (
      position bigint generated always as identity primary key,
      stream text collate "C" not null, revision integer not null, id uuid not null,
      type text collate "C" not null, data json not null, metadata json not null,
      unique (stream, revision)
    )`)
  const revisions = new Map<string, number>()
  const work = async (worker: number) => {
    const stream = streamOf(worker)
    const revision = (revisions.get(stream) ?? -1) + 1
    revisions.set(stream, revision)
    const { id, type, data, metadata } = sampleEvent(stream)
    await pool.query({
      name: 'insert-event',
      text: 'insert into events (stream, revision, id, type, data, metadata) values ($1, $2, $3, $4, $5, $6)',
      values: [stream, revision, id, type, JSON.stringify(data), JSON.stringify(metadata)],
    })
  }
  return {
    ours: () => ours.measure(bench.scale),
    peer: () => keepInFlight({ ...bench.scale, workers: inFlightMax, work }),
    note: () => "the same columns and types on both sides; the peer's statement is prepared",
    async close() {
      await ours.close()
      await pool.end()
      await database.drop()
    },
  }
}
