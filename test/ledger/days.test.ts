import fc from 'fast-check'
import t from 'tap'
import { revisionParts, stretchOf, type BalanceDay } from '../../packages/domain/balances/days.ts'

/** Entries of a book in the order of its stream: when each was effective, by clocks that differ. */
const history = fc.array(
  fc.record({ day: fc.integer({ min: 1, max: 6 }), hour: fc.integer({ min: 0, max: 3 }) }),
  {
    maxLength: 12,
  },
)
const nameOf = (day: number) => `2026-01-0${day}`

/** What the read model makes of them. */
function rowsOf(days: readonly number[]): readonly BalanceDay[] {
  const rows = new Map<number, BalanceDay>()
  for (const [revision, day] of days.entries()) {
    const parts = revisionParts(revision)
    const known = rows.get(day)
    rows.set(day, {
      day: nameOf(day),
      available: (known?.available ?? 0) + 10 ** revision,
      pending: 0,
      reserved: 0,
      entries: (known?.entries ?? 0) + 1,
      revision_blocks: (known?.revision_blocks ?? 0) + parts.revision_blocks,
      revision_rests: (known?.revision_rests ?? 0) + parts.revision_rests,
    })
  }
  return [...rows.values()].sort((one, other) => (one.day < other.day ? -1 : 1))
}

t.test('the balance of a time counts what was effective by then, whatever the order of the log', async () => {
  const property = fc.property(
    history,
    fc.nat(12),
    fc.integer({ min: 1, max: 7 }),
    (entries, behind, day) => {
      const projected = entries.slice(0, Math.max(0, entries.length - behind))
      const { start, end, total } = stretchOf(rowsOf(projected.map((entry) => entry.day)), nameOf(day))
      if (total !== projected.length || start.entries > end || end > total) throw new Error('out of bounds')
      for (const hour of [0, 1, 2, 3]) {
        const isBy = (entry: { day: number; hour: number }) => entry.day * 10 + entry.hour <= day * 10 + hour
        const read = (_: unknown, revision: number) => {
          return (revision >= start.entries && revision < end) || revision >= total
        }
        const counted = entries.map((entry, revision) =>
          read(entry, revision) && isBy(entry) ? 10 ** revision : 0,
        )
        const found = counted.reduce((sum, amount) => sum + amount, start.sum.available)
        const wanted = entries.reduce((sum, entry, revision) => sum + (isBy(entry) ? 10 ** revision : 0), 0)
        if (found !== wanted) throw new Error(`${found} is not ${wanted}`)
      }
    },
  )
  fc.assert(property, { numRuns: 5_000 })
})

t.test('days in their order are not read', async (t) => {
  const days = [1, 1, 2, 2, 2, 3]
  t.match(stretchOf(rowsOf(days), nameOf(2)), { start: { entries: 2 }, end: 5, total: 6 })
  t.match(stretchOf(rowsOf(days), nameOf(7)), { start: { entries: 6 }, end: 6 })
})
