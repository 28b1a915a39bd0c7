import type { Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/contest.ts'
import { makeMerchants, openBenchHouse } from '../support/merchants.ts'
import { startService } from '../support/service.ts'

export const memory: Row = {
  name: 'memory',
  ours: 'resident memory of the service after 1,000,000 payouts',
  peer: 'the same process after 10,000 payouts',
  unit: 'MB',
  target: { most: 1.2 },
  rounds: 1,
  prepare,
}

const connections = 64
const longMs = 15 * 60_000

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const counts = scale.quick ? { few: 2_000, many: 10_000 } : { few: 10_000, many: 1_000_000 }
  const database = await bench.database('bench_memory')
  const opened = await openBenchHouse(database)
  const merchants = await makeMerchants(opened.house, scale.quick ? 100 : 1_000)
  await opened.close()
  const service = await startService(database)
  await service.settled()
  const plan = { flow: 'payout', keys: merchants.map(({ key }) => key) } as const
  const make = async (unitsMax: number) => {
    await generator.run({ port: service.port, connections, plan, warmMs: 0, measuredMs: longMs, unitsMax })
    await service.settled()
    return service.residentMegabytes()
  }
  let few = 0
  return {
    async ours() {
      few = await make(counts.few)
      return { value: await make(counts.many - counts.few) }
    },
    peer: async () => ({ value: few }),
    note: () =>
      `${counts.many} payouts against ${counts.few}, measured when all that follows from them is done`,
    async close() {
      await service.close()
      await database.drop()
    },
  }
}
