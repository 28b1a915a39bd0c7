import { sizeIn, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { measured } from '../support/load/generator.ts'
import { startPeerService } from '../support/peer-service.ts'
import { seededStore } from '../support/seeded.ts'
import { startService } from '../support/service.ts'

export const list: Row = {
  name: 'list',
  ours: 'GET /api/v1/merchant/payouts?status=…&limit=20, with its exact total_count; 16 connections',
  peer: 'express and pg: the same page by an index on merchant, status and order, without any count',
  unit: 'pages/s',
  target: { least: 0.7 },
  prepare,
}

const connections = 16
const statuses = ['pending', 'in_transit', 'paid', 'failed', 'canceled']

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const payouts = sizeIn(scale, { whole: 1_000_000, quick: 100_000 })
  const options = { merchants: 1, payouts, withEvents: false, withRows: true }
  const store = await seededStore(bench, 'bench_list', options)
  const { merchants } = store
  const service = await startService(store.database)
  const peer = await startPeerService(bench, 'bench_list_peer', { merchants, payouts })
  await service.settled()
  const plan = { flow: 'list', keys: merchants.map(({ key }) => key), statuses } as const
  const run = async (port: number) => measured(await generator.run({ port, connections, plan, ...scale }))
  return {
    ours: () => run(service.port),
    peer: () => run(peer.port),
    note: () => `${payouts} payouts of one merchant, a fifth of them in each status`,
    async close() {
      await service.close()
      await peer.close()
      await store.database.drop()
    },
  }
}
