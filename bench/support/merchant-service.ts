import { lead, type LeaderName } from '../../infra/postgres/consumers/leader.ts'
import { connected, sizeIn, type Bench, type BenchDatabase } from './bench.ts'
import { makeMerchants, openBenchRuntime, type BenchMerchant } from './merchants.ts'
import { startService, type BenchService, type Program } from './service.ts'

/** One of our services on a database of its own, with merchants that have money to pay out. */
export interface MerchantService {
  readonly database: BenchDatabase
  readonly merchants: readonly BenchMerchant[]
  /** Their API keys. */
  readonly keys: readonly string[]
  readonly service: BenchService
  close(): Promise<void>
}

export interface Starting {
  readonly program?: Program
  /** Roles in which the service stands by for ever: somebody else leads, and does nothing. */
  readonly standingBy?: readonly LeaderName[]
}

/** A thousand merchants, or a hundred in a quick run. */
export async function startWithMerchants(
  bench: Bench,
  name: string,
  { program = 'all-in-one/main', standingBy = [] }: Starting = {},
): Promise<MerchantService> {
  const database = await bench.databaseWithLog(name)
  const runtime = await openBenchRuntime(database)
  const merchants = await makeMerchants(
    runtime.dependencies,
    sizeIn(bench.scale, { whole: 1_000, quick: 100 }),
  )
  await runtime.close()
  const others = await idleLeaders(database, standingBy)
  const service = await startService(database, program)
  if (program === 'all-in-one/main') await service.settled()
  const close = async () => {
    await service.close()
    await others.close()
    await database.drop()
  }
  return { database, merchants, keys: merchants.map(({ key }) => key), service, close }
}

async function idleLeaders(database: BenchDatabase, names: readonly LeaderName[]) {
  const { pool, close } = await connected(database)
  const isOver = (signal: AbortSignal) =>
    new Promise<void>((over) => signal.addEventListener('abort', () => over(), { once: true }))
  const idle = names.map((name) => lead({ pool, name, instance: 'bench' }, ({ signal }) => isOver(signal)))
  return {
    async close() {
      await Promise.all(idle.map((leading) => leading.close()))
      await close()
    },
  }
}
