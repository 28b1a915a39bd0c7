import { verifyLog } from '../../services/cli/audit/verify.ts'
import { deciders } from '../../packages/domain/index.ts'
import { connected, type BenchDatabase } from './bench.ts'
import { countEvents, openLog } from './log.ts'
import { number } from './result.ts'

/** What the clients of a load were told is done. */
export interface Acknowledged {
  /** The event that the log holds for each unit of work that was answered. */
  readonly event: string
  readonly units: number
}

/**
 * Speed counts only when nothing was lost for it: throws when the log lacks an acknowledged unit, or when the
 * ledger breaks one of its rules. Answers a sentence for the row's note.
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
