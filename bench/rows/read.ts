import type { Bench } from '../support/bench.ts'
import type { Contest, Measured, Row } from '../support/contest.ts'
import { LoadGenerator, measured } from '../support/generator.ts'
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
/** Together with those who read fewer than the service takes at any time, so that nobody is sent away. */
const writing = { connections: 32, perSecond: 500 }

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const payouts = scale.quick ? 10_000 : 100_000
  const size = { merchants: 100, payouts, withEvents: true, withRows: true }
  const store = await seededStore(bench, 'bench_read', size)
  const { merchants } = store
  const service = await startService(store.database)
  const peer = await startPeerService(bench, 'bench_read_peer', { merchants, payouts })
  const writer = new LoadGenerator()
  const keys = merchants.map(({ key }) => key)
  const written: number[] = []

  const run = async (port: number): Promise<Measured> => {
    const common = { port, connections, ...scale }
    const writes = writer.run({ ...common, ...writing, plan: { flow: 'payout', keys } })
    const reads = await generator.run({ ...common, plan: { flow: 'read', keys, payouts } })
    written.push((await writes).perSecond)
    return measured(reads)
  }
  return {
    async ours() {
      const result = await run(service.port)
      await service.settled()
      return result
    },
    peer: () => run(peer.port),
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
