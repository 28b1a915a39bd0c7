import { compiling, sizeIn, type Bench, type Times } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import type { Measured } from '../support/report/measured.ts'
import { LoadGenerator, measured } from '../support/load/generator.ts'
import { startPeerService } from '../support/peer-service.ts'
import { seededStore } from '../support/seeded.ts'
import { startService } from '../support/service.ts'

export const read: Row = {
  name: 'read',
  ours: 'GET /api/v1/payouts/{id} while 500 payouts a second are written; 64 connections',
  peer: 'express and pg: SELECT by primary key under the same load of writes',
  unit: 'reads/s',
  target: { least: 0.7 },
  prepare,
}

const connections = 64
/** Fewer concurrent readers than the service's limit, so that none is refused. */
const writing = { connections: 32, perSecond: 500 }

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const payouts = sizeIn(scale, { whole: 100_000, quick: 10_000 })
  const size = { merchants: 100, payouts, withEvents: true, withRows: true }
  const store = await seededStore(bench, 'bench_read', size)
  const service = await startService(store.database)
  const peer = await startPeerService(bench, 'bench_read_peer', { ...store, payouts })
  const writer = new LoadGenerator()
  const keys = store.merchants.map(({ key }) => key)
  const written: number[] = []

  const clients = { generator, writer, keys, payouts }
  const round = async (port: number): Promise<Measured> => {
    const { reads, writes } = await readAndWrite(clients, port, scale)
    written.push(writes.perSecond)
    return measured(reads)
  }
  return {
    async warmUp() {
      await readAndWrite(clients, peer.port, compiling(scale))
      await readAndWrite(clients, service.port, compiling(scale))
      await service.settled()
    },
    ours: async () => {
      const result = await round(service.port)
      await service.settled()
      return result
    },
    peer: () => round(peer.port),
    note: () =>
      `${payouts} payouts; the writes reached ${written.map((rate) => Math.round(rate)).join(', ')} a second ` +
      '(ours and the peer in turns)',
    async close() {
      await writer.close()
      await service.close()
      await peer.close()
      await store.database.drop()
    },
  }
}

interface Clients {
  readonly generator: LoadGenerator
  readonly writer: LoadGenerator
  readonly keys: readonly string[]
  readonly payouts: number
}

/** Concurrently. */
async function readAndWrite({ generator, writer, keys, payouts }: Clients, port: number, times: Times) {
  const common = { port, connections, ...times }
  const writes = writer.run({ ...common, ...writing, plan: { flow: 'payout', keys } })
  const reads = await generator.run({ ...common, plan: { flow: 'read', keys, payouts } })
  return { reads, writes: await writes }
}
