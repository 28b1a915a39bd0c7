import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../support/root.ts'
import { peerPool, type Bench } from '../support/bench.ts'
import { NotMeasuredError, type Contest, type Row } from '../support/report/contest.ts'
import { keepInFlight } from '../support/load/in-flight.ts'
import { inFlightMax, ourAppends, sampleEvent, streamOf } from '../support/load/appends.ts'
import type { Pool } from 'pg'
import type { NewEvent } from '../../packages/kernel/ports.ts'

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
  const openEmmett = await importEmmett()
  const ours = await ourAppends(bench, 'bench_append')
  const database = await bench.database('bench_emmett')
  const pool = peerPool(database, poolMax)
  const emmett = await openEmmett(database.url, pool)
  const work = async (worker: number) => {
    const stream = streamOf(worker)
    await emmett.append(stream, sampleEvent(stream))
  }
  return {
    ours: () => ours.measure(bench.scale),
    peer: () => keepInFlight({ ...bench.scale, workers: inFlightMax, work }),
    note: () => `one process on each side; Emmett with a pool of ${poolMax}`,
    async close() {
      await ours.close()
      await emmett.close()
      await pool.end()
      await database.drop()
    },
  }
}

interface Emmett {
  append(stream: string, event: NewEvent): Promise<void>
  close(): Promise<void>
}

/** The peer has its own package.json, so it is not compiled with this program. */
async function importEmmett(): Promise<(url: string, pool: Pool) => Promise<Emmett>> {
  const file = join(root, 'bench/peers/emmett/appends.js')
  try {
    const peer = (await import(pathToFileURL(file).href)) as {
      openEmmett: (url: string, pool: Pool) => Promise<Emmett>
    }
    return peer.openEmmett
  } catch (error) {
    throw new NotMeasuredError(`not measured: install bench/peers/emmett first (${(error as Error).message})`)
  }
}
