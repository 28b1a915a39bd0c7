import { compiling, type Bench, type Times } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { measured } from '../support/load/generator.ts'
import { startWithMerchants } from '../support/merchant-service.ts'
import { checkAfterwards } from '../support/afterwards.ts'

export const payoutHot: Row = {
  name: 'payout-hot',
  ours: 'POST /api/v1/payouts, all from the book of one merchant; 64 connections',
  peer: 'our own, spread over many merchants',
  unit: 'payouts/s',
  target: { least: 0.9 },
  prepare,
}

const connections = 64

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const { database, keys, service, close } = await startWithMerchants(bench, 'bench_payout_hot')
  let units = 0
  const run = async (some: readonly string[], times: Times = scale) => {
    const plan = { flow: 'payout', keys: some } as const
    const result = await generator.run({ port: service.port, connections, plan, ...times })
    units += result.answered
    await service.settled()
    return measured(result)
  }
  return {
    warmUp: async () => void (await run(keys, compiling(scale))),
    ours: () => run(keys.slice(0, 1)),
    peer: () => run(keys),
    check: () => checkAfterwards(database, { event: 'PayoutRequested', units }),
    note: () => `one book against ${keys.length} books, the same service`,
    close,
  }
}
