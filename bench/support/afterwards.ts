import { verifyLog } from '../../services/audit/verify.ts'
import { deciders } from '../../packages/domain/index.ts'
import { connected, type BenchDatabase } from './bench.ts'
import { countEvents, openLog } from './log.ts'
import { number } from './report/result.ts'

/** What the load's clients were told was done. */
export interface Acknowledged {
  /** The event that the log must hold for each acknowledged unit of work. */
  readonly event: string
  readonly units: number
}

/**
 * Speed only counts if nothing was lost: throws when the log lacks an acknowledged unit or the ledger breaks
 * one of its rules. Returns a sentence for the row's note.
 */
export async function checkAfterwards(
  database: BenchDatabase,
  { event, units }: Acknowledged,
): Promise<string> {
  const { pool, close } = await connected(database)
  const store = await openLog(database)
  try {
    const found = await countEvents(store, event)
    if (found < units)
      throw new Error(`${units} units were acknowledged, but the log holds ${found} ${event}`)
    const checkpoint = `select position from checkpoints where name = 'policies'`
    const through = (await pool.query<{ position: number }>(checkpoint)).rows[0]?.position ?? 0
    const options = { store, deciders, policiesThrough: Number(through), now: new Date() }
    const { violations, books } = await verifyLog({ ...options, onProgress: () => undefined })
    if (violations.length > 0) throw new Error(`the ledger is broken: ${JSON.stringify(violations[0])}`)
    return `afterwards all ${number(units)} acknowledged are in the log and ${books} books balance`
  } finally {
    await store.close()
    await close()
  }
}
