import { initialisePgbench, runPgbench } from '../peers/pgbench.ts'
import type { Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/contest.ts'
import { median } from '../support/statistics.ts'
import { measured } from '../support/generator.ts'
import { makeMerchants, openBenchHouse } from '../support/merchants.ts'
import { checkAfterwards } from '../support/afterwards.ts'
import { startService } from '../support/service.ts'

export const payout: Row = {
  name: 'payout',
  ours: 'POST /api/v1/payouts: authentication, validation, idempotency key, hold, events; 64 connections',
  peer: 'pgbench, TPC-B-like, 16 clients, prepared, on the same server',
  unit: 'payouts/s',
  target: { least: 1 },
  prepare,
}

const connections = 64

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const pgbench = await bench.database('bench_pgbench')
  const pgbenchScale = scale.quick ? 10 : 50
  await initialisePgbench(pgbench, pgbenchScale)
  const database = await bench.database('bench_payout')
  const opened = await openBenchHouse(database)
  const merchants = await makeMerchants(opened.house, scale.quick ? 100 : 1_000)
  await opened.close()
  const service = await startService(database)
  await service.settled()
  const plan = { flow: 'payout', keys: merchants.map(({ key }) => key) } as const
  const behindMs: number[] = []
  let units = 0
  return {
    async ours() {
      const result = await generator.run({ port: service.port, connections, plan, ...scale })
      units += result.answered
      behindMs.push(await service.settled())
      return measured(result)
    },
    peer: () => runPgbench(pgbench, scale),
    check: () => checkAfterwards(database, { event: 'PayoutRequested', units }),
    note: () =>
      `${merchants.length} merchants, pgbench scale ${pgbenchScale}; all that follows from a payout runs in the same ` +
      `process at the same time and is done ${Math.round(median(behindMs))} ms after the last answer`,
    async close() {
      await service.close()
      await database.drop()
      await pgbench.drop()
    },
  }
}
