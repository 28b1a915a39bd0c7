import { initialisePgbench, runPgbench } from '../peers/pgbench.ts'
import { compiling, sizeIn, type Bench, type BenchDatabase, type Times } from '../support/bench.ts'
import { Lateness } from '../support/consumer-delays.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { measured } from '../support/load/generator.ts'
import { startWithMerchants } from '../support/merchant-service.ts'
import { checkAfterwards } from '../support/afterwards.ts'
import { number } from '../support/report/result.ts'
import { startService, type Program } from '../support/service.ts'

const request =
  'POST /api/v1/payouts: authentication, validation, idempotency key, hold, events; 64 connections'
const against = {
  peer: 'pgbench, TPC-B-like, 16 clients, prepared, on the same server',
  unit: 'payouts/s',
}

export const payout: Row = {
  name: 'payout',
  ours: `${request}; the API in a process of its own`,
  ...against,
  target: { least: 1 },
  prepare: (bench) => prepare(bench, 'api/serve'),
}

/** Includes what `payout` leaves out: everything after the 201, in the same process at the same time. */
export const payoutWhole: Row = {
  name: 'payout-whole',
  ours: `${request}; the whole service in one process`,
  ...against,
  prepare: (bench) => prepare(bench, 'all-in-one/main'),
}

const connections = 64

async function prepare(bench: Bench, program: Program): Promise<Contest> {
  const { scale, generator } = bench
  const isWhole = program === 'all-in-one/main'
  const pgbench = await bench.database('bench_pgbench')
  const pgbenchScale = sizeIn(scale, { whole: 50, quick: 10 })
  await initialisePgbench(pgbench, pgbenchScale)
  const { database, keys, service, close } = await startWithMerchants(bench, 'bench_payout', { program })
  const plan = { flow: 'payout', keys } as const
  const lateness = isWhole ? new Lateness(service) : undefined
  let units = 0
  const run = async (times: Times) => {
    const result = await generator.run({ port: service.port, connections, plan, ...times })
    units += result.answered
    return result
  }
  return {
    async warmUp() {
      await run(compiling(scale))
      await lateness?.begin()
    },
    async ours() {
      const result = await run(scale)
      await lateness?.look()
      return measured(result)
    },
    peer: () => runPgbench(pgbench, scale),
    async check() {
      const follows = lateness
        ? String(lateness)
        : `the whole service, started afterwards, does what follows from them in ${await catchUp(database)}`
      return `${follows}; ${await checkAfterwards(database, { event: 'PayoutRequested', units })}`
    },
    note: () => `${keys.length} merchants, pgbench scale ${pgbenchScale}`,
    async close() {
      await close()
      await pgbench.drop()
    },
  }
}

async function catchUp(database: BenchDatabase): Promise<string> {
  const service = await startService(database)
  const ms = await service.settled()
  await service.close()
  return `${number(ms / 1_000)} s`
}
