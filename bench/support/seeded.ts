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
  const { payouts, withEvents, withRows } = options
  const database = await bench.database(name)
  const runtime = await openBenchRuntime(database)
  const { pool } = runtime.postgres
  const { vault } = runtime.dependencies
  const [first, ...merchants] = await makeMerchants(runtime.dependencies, options.merchants + 1)
  const templates: PayoutTemplate[] = []
  for (const end of ends) templates.push(await payoutTemplate(runtime.dependencies, first!, end))
  const { isSealed = true, toEachNumber = false } = options
  const paid = isSealed ? templates[ends.indexOf('paid')]! : inTheClear(templates[ends.indexOf('paid')]!)
  const eventsBefore = await runtime.dependencies.store.head()
  if (withEvents) await seedEvents({ pool, vault, merchants, payouts, toEachNumber }, paid)
  if (withRows) await seedPayoutRows({ pool, vault, merchants, payouts }, withEvents ? [paid] : templates)
  await skipToHead(pool)
  const events = await runtime.dependencies.store.head()
  await runtime.close()
  return { database, merchants, events, eventsBefore }
}

/** As events were before there were seals. */
function inTheClear({ events, ...template }: PayoutTemplate): PayoutTemplate {
  const open = events.map(({ metadata, ...event }) => {
    const { sealed: _, ...rest } = metadata
    return { ...event, metadata: rest }
  })
  return { ...template, events: open }
}
