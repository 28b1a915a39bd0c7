import t from 'tap'
import { cellOf, planOf, revisionParts, type Cell, type Moment } from '../../packages/domain/balances/days.ts'
import { fc } from '../support/properties.ts'

/** Events of a book in the order of its stream: when each was written and counts, by clocks that differ. */
const time = fc.record({ day: fc.integer({ min: 1, max: 6 }), hour: fc.integer({ min: 0, max: 3 }) })
const history = fc.array(fc.record({ written: time, effective: time }), { maxLength: 12 })
const moment = fc.record({ asOf: time, knownAt: time }, { requiredKeys: [] })

const spelled = ({ day, hour }: { day: number; hour: number }) => `2026-01-0${day}T0${hour}:00:00.000Z`

interface Event {
  readonly at: string
  readonly effectiveAt: string
}

/** What the read model makes of them. */
function cellsOf(events: readonly Event[]): readonly Cell[] {
  const cells = new Map<string, Cell>()
  for (const [revision, { at, effectiveAt }] of events.entries()) {
    const cell = cellOf(at, effectiveAt)
    const parts = revisionParts(revision)
    const known = cells.get(cell)
    cells.set(cell, {
      cell,
      available: (known?.available ?? 0) + 10 ** revision,
      pending: 0,
      reserved: 0,
      entries: (known?.entries ?? 0) + 1,
      revision_blocks: (known?.revision_blocks ?? 0) + parts.revision_blocks,
      revision_rests: (known?.revision_rests ?? 0) + parts.revision_rests,
    })
  }
  return [...cells.values()].sort((one, other) => (one.cell < other.cell ? -1 : 1))
}

/** Each event has a digit of its own. */
function naive(events: readonly Event[], { asOf = '9', knownAt = '9' }: Moment): number {
  const cut = events.findIndex(({ at }) => at > knownAt)
  const known = cut < 0 ? events : events.slice(0, cut)
  return known.reduce((sum, { effectiveAt }, revision) => sum + (effectiveAt <= asOf ? 10 ** revision : 0), 0)
}

t.test('what counts at a time, and what was known at one, whatever the clocks said', async () => {
  const property = fc.property(history, fc.nat(12), moment, (raw, behind, asked) => {
    const events = raw.map(({ written, effective }) => ({
      at: spelled(written),
      effectiveAt: spelled(effective),
    }))
    const { asOf = undefined, knownAt = undefined } = {
      ...(asked.asOf && { asOf: spelled(asked.asOf) }),
      ...(asked.knownAt && { knownAt: spelled(asked.knownAt) }),
    }
    const cells = cellsOf(events.slice(0, Math.max(0, events.length - behind)))
    const { whole, read } = planOf(cells, { asOf, knownAt })
    let found = cells.reduce((sum, { cell, available }) => sum + (whole.has(cell) ? available : 0), 0)
    reading: for (const { from, to } of read) {
      for (const [index, { at, effectiveAt }] of events.slice(from, to).entries()) {
        if (knownAt !== undefined && at > knownAt) break reading
        if (asOf === undefined || effectiveAt <= asOf) found += 10 ** (from + index)
      }
    }
    const wanted = naive(events, { asOf, knownAt })
    if (found !== wanted) throw new Error(`${found} is not ${wanted}`)
  })
  fc.assert(property, { numRuns: 10_000 })
})

t.test('days in their order are not read, but the one that is asked about', async (t) => {
  const days = [1, 1, 2, 2, 2, 3, 4].map((day) => ({ day, hour: 0 }))
  const cells = cellsOf(days.map((day) => ({ at: spelled(day), effectiveAt: spelled(day) })))
  const rest = { from: 7, to: Number.POSITIVE_INFINITY }
  const asOf = '2026-01-02T12:00:00.000Z'
  t.strictSame(planOf(cells, { asOf }).read, [{ from: 2, to: 5 }, rest])
  t.strictSame(planOf(cells, { knownAt: asOf }).read, [{ from: 2, to: 5 }])
  t.strictSame(planOf(cells, { asOf: '2026-02-01T00:00:00.000Z' }).read, [rest])
})

t.test('one late entry makes nobody read more than the days that it touches', async (t) => {
  const days = [1, 2, 3, 4, 5].map((day) => spelled({ day, hour: 0 }))
  const events = days.map((at) => ({ at, effectiveAt: at }))
  const late = { at: days[3]!, effectiveAt: days[0]! }
  const cells = cellsOf([...events.slice(0, 4), late, ...events.slice(4)])
  const { read } = planOf(cells, { asOf: '2026-01-02T12:00:00.000Z' })
  t.strictSame(read, [
    { from: 1, to: 2 },
    { from: 6, to: Number.POSITIVE_INFINITY },
  ])
})
