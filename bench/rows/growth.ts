import { sizeIn, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import type { Measured } from '../support/report/measured.ts'
import { seedBook } from '../support/growth.ts'
import { makeMerchants, openBenchRuntime, type BenchMerchant } from '../support/merchants.ts'
import { lengthenLog, skipToHead } from '../support/seed.ts'
import { startService, type BenchService } from '../support/service.ts'

export const growth: Row = {
  name: 'growth',
  ours: 'p50 of a payout from a book with 1,000,000 entries, in a log of 10,000,000 events; 200 a second',
  peer: 'the same on an empty store',
  unit: 'ms',
  target: { most: 1.1 },
  prepare,
}

const connections = 16
const perSecond = 200
/** V8 must have compiled both sides before they are compared. */
const warmUnits = 4_000

interface Store {
  readonly service: BenchService
  readonly merchant: BenchMerchant
  close(): Promise<void>
}

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const sizes = {
    entries: sizeIn(scale, { whole: 1_000_000, quick: 20_000 }),
    events: sizeIn(scale, { whole: 10_000_000, quick: 200_000 }),
  }
  const big = await openStore(bench, 'bench_growth_big', sizes)
  const empty = await openStore(bench, 'bench_growth_empty')
  for (const store of [big, empty]) await warmUp(bench, store)
  const run = async ({ service, merchant }: Store): Promise<Measured> => {
    const plan = { flow: 'payout', keys: [merchant.key] } as const
    const { p50Ms, p99Ms, cpuPercent } = await generator.run({
      port: service.port,
      connections,
      plan,
      perSecond,
      ...scale,
    })
    await service.settled()
    return { value: p50Ms, p50Ms, p99Ms, generatorPercent: cpuPercent }
  }
  return {
    ours: () => run(big),
    peer: () => run(empty),
    note: () =>
      `the book is ${sizes.entries} entries of payouts, in a log of ${sizes.events} events whose other streams ` +
      'hold events without data',
    async close() {
      await big.close()
      await empty.close()
    },
  }
}

async function warmUp({ generator }: Bench, { service, merchant }: Store): Promise<void> {
  const plan = { flow: 'payout', keys: [merchant.key] } as const
  const most = { warmMs: 0, measuredMs: 60_000, unitsMax: warmUnits }
  await generator.run({ port: service.port, connections, plan, ...most })
  await service.settled()
}

async function openStore(
  bench: Bench,
  name: string,
  sizes?: { readonly entries: number; readonly events: number },
): Promise<Store> {
  const database = await bench.database(name)
  const runtime = await openBenchRuntime(database)
  const [merchant, template] = await makeMerchants(runtime.dependencies, 100)
  if (sizes) {
    const { pool } = runtime.postgres
    await seedBook(runtime, { merchant: merchant!, template: template!, entries: sizes.entries })
    await lengthenLog(pool, sizes.events)
    await skipToHead(pool)
  }
  await runtime.close()
  const service = await startService(database)
  await service.settled()
  const close = async () => {
    await service.close()
    await database.drop()
  }
  return { service, merchant: merchant!, close }
}
