import type { Bench, Scale } from '../support/bench.ts'
import type { Contest, Row } from '../support/contest.ts'
import { measured } from '../support/generator.ts'
import { makeMerchants, openBenchHouse } from '../support/merchants.ts'
import { startPeerService } from '../support/peer-service.ts'
import { checkAfterwards } from '../support/afterwards.ts'
import { startService } from '../support/service.ts'
import { median } from '../support/statistics.ts'

export const intent: Row = {
  name: 'intent',
  ours: 'create, confirm and succeed a payment intent in three requests, its webhooks recorded; 64 connections',
  peer: 'express and pg: each step in one transaction',
  unit: 'intents/s',
  target: { least: 3 },
  prepare,
}

type Times = Pick<Scale, 'warmMs' | 'measuredMs'>

const connections = 64

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const database = await bench.database('bench_intent')
  const opened = await openBenchHouse(database)
  const merchants = await makeMerchants(opened.house, scale.quick ? 100 : 1_000)
  await opened.close()
  const service = await startService(database)
  const peer = await startPeerService(bench, 'bench_intent_peer', { merchants, payouts: 0 })
  await service.settled()
  const plan = { flow: 'intent', keys: merchants.map(({ key }) => key) } as const
  const behindMs: number[] = []
  let units = 0
  const atOurs = async (times: Times) => {
    const result = await generator.run({ port: service.port, connections, plan, ...times })
    units += result.answered
    behindMs.push(await service.settled())
    return measured(result)
  }
  const atPeer = async (times: Times) =>
    measured(await generator.run({ port: peer.port, connections, plan, ...times }))
  return {
    async warmUp() {
      const times = { warmMs: scale.compileMs, measuredMs: scale.warmMs }
      await atPeer(times)
      await atOurs(times)
    },
    ours: () => atOurs(scale),
    peer: () => atPeer(scale),
    check: () => checkAfterwards(database, { event: 'PaymentIntentSucceeded', units }),
    note: () =>
      `read models and recorded webhooks are done ${Math.round(median(behindMs))} ms after the last answer`,
    async close() {
      await service.close()
      await peer.close()
      await database.drop()
    },
  }
}
