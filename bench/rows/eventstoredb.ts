import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { sizeIn, type Bench } from '../support/bench.ts'
import { endChild, forkChild, message } from '../support/children.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import type { LoadDone, LoadWanted } from '../support/eventstoredb-load.ts'
import type { Measured } from '../support/report/measured.ts'

/** Compares CPU instead of time, because the test server is slower than a real one. */
const unit = 'µs of CPU'

export const eventStoreDbAppend: Row = {
  name: 'esdb-append',
  ours: 'event store port on EventStoreDB: an append of two events, 256 in flight',
  peer: '@eventstore/db-client appendToStream, over its batch stream',
  unit,
  target: { most: 1 },
  prepare: (bench) => prepare(bench, 'append'),
}

export const eventStoreDbFollow: Row = {
  name: 'esdb-follow',
  ours: 'event store port on EventStoreDB: four consumers follow the log, an event',
  peer: '@eventstore/db-client subscribeToAll: one subscription with a filter, an event',
  unit,
  target: { most: 1 },
  prepare: (bench) => prepare(bench, 'follow'),
}

/** A warm-up of a quarter of them, for V8. */
const counts = { append: { whole: 20_000, quick: 8_000 }, follow: { whole: 30_000, quick: 10_000 } }
/** At most 4,000 events a second, a few at a time, as commands produce them. */
const writing = { perTurn: 20, everyMs: 5 }
const warmUps = 0.25

type Work = LoadWanted['work']

async function prepare({ scale }: Bench, work: Work): Promise<Contest> {
  const server = forkChild('../../test/support/eventstoredb-peer/serve')
  const { url } = await message<{ url: string }>(server)
  const count = sizeIn(scale, counts[work])
  const side = (side: LoadWanted['side']) => measure({ url, side, work, count }, server)
  return {
    ours: () => side('ours'),
    peer: () => side('client'),
    note: () => `${count} a round; each side and the server in processes of their own`,
    close: () => endChild(server),
  }
}

async function measure(wanted: LoadWanted, server: ChildProcess): Promise<Measured> {
  const child = forkChild('eventstoredb-load')
  child.send(wanted)
  if (wanted.work === 'follow') {
    for (const events of [wanted.count * warmUps, wanted.count]) {
      await once(child, 'message')
      server.send({ events, ...writing })
    }
  }
  const { cpuMicroseconds } = await message<LoadDone>(child)
  await endChild(child)
  return { value: cpuMicroseconds / wanted.count }
}
