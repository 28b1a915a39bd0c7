import { caseKinds } from '../../../packages/domain/cases/case.ts'
import type { ReadStore } from '../../../packages/kernel/ports/reads.ts'
import { cases } from '../../../projections/cases.ts'

interface OpenCases {
  readonly byKind: Readonly<Record<string, number>>
  readonly oldestSeconds: number
}

/** The share of limited reads that counts these: they end in time, and take no connection from requests. */
const share = 'watching'

/** How many cases of each kind are open, and the age of the oldest. */
export async function openCases(reads: ReadStore, now: Date): Promise<OpenCases> {
  const byKind: Record<string, number> = {}
  let oldest = now.getTime()
  for (const kind of Object.keys(caseKinds)) {
    const where = [
      { column: 'status', operator: '=', value: 'open' },
      { column: 'kind', operator: '=', value: kind },
    ] as const
    const query = { from: cases.name, where, order: 'created', ascending: true, limit: 1, count: true, share }
    const { rows, total = 0 } = await reads.page<{ opened_at: string }>(query)
    byKind[kind] = total
    if (rows[0]) oldest = Math.min(oldest, Date.parse(rows[0].opened_at))
  }
  return { byKind, oldestSeconds: Math.max(0, Math.round((now.getTime() - oldest) / 1_000)) }
}
