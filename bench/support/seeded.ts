import type { Runtime } from '../../services/composition/dependencies.ts'
import type { Bench, BenchDatabase } from './bench.ts'
import { makeMerchants, openBenchRuntime, type BenchMerchant } from './merchants.ts'
import { seedEvents, seedPayoutRows, skipToHead } from './seed.ts'
import { payoutTemplate, type PayoutEnd, type PayoutTemplate } from './load/template.ts'

export interface SeededStore {
  readonly database: BenchDatabase
  readonly merchants: readonly BenchMerchant[]
  /** Events in the log, and how many of them stand before those of the seeded payouts. */
  readonly events: number
  readonly eventsBefore: number
}

export interface SeededOptions {
  readonly merchants: number
  readonly payouts: number
  /** Includes every payout's events, not only its row in the read model. */
  readonly withEvents: boolean
  readonly withRows: boolean
  /** Whether what is personal is sealed. Default: as the service does it. */
  readonly isSealed?: boolean
  readonly toEachNumber?: boolean
}

const ends: readonly PayoutEnd[] = ['pending', 'in_transit', 'paid', 'failed', 'canceled']

/** A store filled by SQL with copies of payouts that the deciders made. */
export async function seededStore(bench: Bench, name: string, options: SeededOptions): Promise<SeededStore> {
  const database = await bench.database(name)
  const runtime = await openBenchRuntime(database)
  try {
    return await filled(database, runtime, options)
  } finally {
    await runtime.close()
  }
}

async function filled(
  database: BenchDatabase,
  { postgres: { pool }, dependencies }: Runtime,
  options: SeededOptions,
): Promise<SeededStore> {
  const { payouts, withEvents, withRows, isSealed = true, toEachNumber = false } = options
  const { vault, store } = dependencies
  const [first, ...merchants] = await makeMerchants(dependencies, options.merchants + 1)
  const templates: PayoutTemplate[] = []
  for (const end of ends) templates.push(await payoutTemplate(dependencies, first!, end))
  const paid = isSealed ? templates[ends.indexOf('paid')]! : inTheClear(templates[ends.indexOf('paid')]!)
  const eventsBefore = await store.head()
  if (withEvents) await seedEvents({ pool, vault, merchants, payouts, toEachNumber }, paid)
  if (withRows) await seedPayoutRows({ pool, vault, merchants, payouts }, withEvents ? [paid] : templates)
  await skipToHead(pool)
  return { database, merchants, events: await store.head(), eventsBefore }
}

/** As events were before there were seals. */
function inTheClear({ events, ...template }: PayoutTemplate): PayoutTemplate {
  const open = events.map(({ metadata, ...event }) => {
    const { sealed: _, ...rest } = metadata
    return { ...event, metadata: rest }
  })
  return { ...template, events: open }
}
