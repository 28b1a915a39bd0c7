import { compiling, type Bench, type Times } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { measured } from '../support/load/generator.ts'
import { startWithMerchants } from '../support/merchant-service.ts'
import { startPeerService } from '../support/peer-service.ts'
import { checkAfterwards } from '../support/afterwards.ts'
import { median } from '../support/report/statistics.ts'

export const intent: Row = {
  name: 'intent',
  ours: 'create, confirm and succeed a payment intent in three requests, its webhooks recorded; 64 connections',
  peer: 'express and pg: each step in one transaction',
  unit: 'intents/s',
  target: { least: 3 },
  prepare,
}

const connections = 64

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const { database, merchants, keys, service, close } = await startWithMerchants(bench, 'bench_intent')
  const peer = await startPeerService(bench, 'bench_intent_peer', { merchants, payouts: 0 })
  const plan = { flow: 'intent', keys } as const
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
      await atPeer(compiling(scale))
      await atOurs(compiling(scale))
    },
    ours: () => atOurs(scale),
    peer: () => atPeer(scale),
    check: () => checkAfterwards(database, { event: 'PaymentIntentSucceeded', units }),
    note: () =>
      `read models and recorded webhooks are done ${Math.round(median(behindMs))} ms after the last answer`,
    async close() {
      await peer.close()
      await close()
    },
  }
}
