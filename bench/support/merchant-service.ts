import type { Bench, BenchDatabase } from './bench.ts'
import { makeMerchants, openBenchHouse, type BenchMerchant } from './merchants.ts'
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

/** A thousand merchants, or a hundred in a quick run. */
export async function startWithMerchants(
  bench: Bench,
  name: string,
  program: Program = 'all-in-one/main',
): Promise<MerchantService> {
  const database = await bench.databaseWithLog(name)
  const runtime = await openBenchHouse(database)
  const merchants = await makeMerchants(runtime.dependencies, bench.scale.quick ? 100 : 1_000)
  await runtime.close()
  const service = await startService(database, program)
  if (program === 'all-in-one/main') await service.settled()
  const close = async () => {
    await service.close()
    await database.drop()
  }
  return { database, merchants, keys: merchants.map(({ key }) => key), service, close }
}
