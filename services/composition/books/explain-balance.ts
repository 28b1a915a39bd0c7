import type { Dependencies } from '../../../packages/contract/routes.ts'
import {
  cellsOf,
  planOf,
  sumOfCells,
  type Cell,
  type Moment,
  type Plan,
} from '../../../packages/domain/balances/days.ts'
import type {
  ExplainedEntry,
  ExplainedHold,
  ExplainedHolds,
  Explanation,
} from '../../../packages/domain/balances/explanation.ts'
import { movementOf, sumOf } from '../../../packages/domain/balances/movement.ts'
import { isHeld, type BookKey } from '../../../packages/domain/ledger/accounts.ts'
import { isEntry, type Entry } from '../../../packages/domain/ledger/events.ts'
import { effect } from '../../../packages/domain/ledger/postings.ts'
import type { Balances } from '../../../packages/domain/ledger/state.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import { daysOf, eventsOf, summed } from './book-history.ts'

type Stores = Pick<Dependencies, 'store' | 'reads'>
type Recorded = RecordedEvent<Entry>

export interface Asked extends Moment {
  readonly book: BookKey
  readonly part: keyof Balances
  readonly share?: string
}

/**
 * Takes a balance apart: into sums by template and purpose, and the open holds one by one. The days that the
 * sums are made of are compared with the balance that is kept without them.
 */
export async function explainBalance(stores: Stores, asked: Asked): Promise<Explanation> {
  const { book, part, share, ...moment } = asked
  const parts = await daysOf(stores, { book, ...(share !== undefined && { share }) })
  const cells = cellsOf(parts)
  const plan = planOf(cells, moment)
  const sums = new Sums()
  const { available, pending, reserved } = sumOfCells(cells, plan)
  let shown: Balances = { available, pending, reserved }
  for (const one of parts) if (plan.whole.has(one.cell)) sums.add(one.template, one.purpose, one[part])
  const through = await readPlanned(stores, { ...asked, plan }, (entry) => {
    const moved = movementOf(entry)
    shown = sumOf(shown, moved)
    sums.add(entry.template, entry.subject.type, moved[part])
  })
  const holds = await openHolds(stores, asked, { amount: shown.reserved, before: through })
  return { shown, sums: sums.all(), holds, unexplained: await drift(stores, asked, cells), through }
}

/** By how much the balance that is kept differs from the sum of all days: 0 unless somebody changed one. */
async function drift(stores: Stores, { book, part }: Asked, cells: readonly Cell[]): Promise<number> {
  const days = cells.reduce((sum, cell) => sum + cell[part], 0)
  const counted = cells.reduce((sum, { entries }) => sum + entries, 0)
  const { sum, entries } = await summed(stores, book)
  // They are read one after the other: what only one of them has counted is taken from the book.
  const [from, to] = [Math.min(counted, entries), Math.max(counted, entries)]
  let between = 0
  for await (const event of eventsOf(stores, book, { from, to }))
    if (isEntry(event)) between += movementOf(event.data)[part]
  return sum[part] - days + (counted > entries ? between : -between)
}

/** Hands over the entries of a plan; answers the first revision that was not known. */
async function readPlanned(
  stores: Stores,
  { book, asOf, knownAt, plan }: Asked & { readonly plan: Plan },
  handle: (entry: Entry) => void,
): Promise<number> {
  let end = 0
  for (const range of plan.read) {
    end = range.from
    for await (const event of eventsOf(stores, book, range)) {
      if (isEntry(event) && knownAt !== undefined && event.metadata.at > knownAt) return event.revision
      end = event.revision + 1
      if (isEntry(event) && (asOf === undefined || event.data.effectiveAt <= asOf)) handle(event.data)
    }
  }
  return Number.isFinite(plan.end) ? plan.end : end
}

class Sums {
  readonly #amounts = new Map<string, { template: string; purpose: string; amount: number }>()

  add(template: string, purpose: string, amount: number): void {
    const key = keyOf({ template, purpose })
    const known = this.#amounts.get(key)
    if (known) known.amount += amount
    else this.#amounts.set(key, { template, purpose, amount })
  }

  all() {
    const found = [...this.#amounts.values()].filter(({ amount }) => amount !== 0)
    return found.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  }
}

function keyOf({ template, purpose }: { readonly template: string; readonly purpose: string }): string {
  return `${template} ${purpose}`
}

interface Held {
  /** What stands in the accounts of holds. */
  readonly amount: number
  readonly before: number
}

const eventsPerLook = 1_000
/** Holds mostly end within minutes: beyond this, what is left is named unexplained. */
const eventsLookedAtMax = 200_000

/** Reads back from the end until the open holds come to what is held: older ones there are then none. */
export async function openHolds(
  stores: Stores,
  asked: Pick<Asked, 'book' | 'asOf'>,
  { amount, before }: Held,
): Promise<ExplainedHolds> {
  const holds = new Map<string, FoundHold>()
  let [open, missing] = [[] as readonly FoundHold[], amount]
  const last = Math.max(0, before - eventsLookedAtMax)
  for (let to = before; to > last && missing !== 0; to -= eventsPerLook) {
    const look = { from: Math.max(last, to - eventsPerLook), to }
    const found = new Map<string, FoundHold>()
    for await (const event of eventsOf(stores, asked.book, look)) noteHold(found, event, asked)
    for (const [id, earlier] of found) holds.set(id, joined(earlier, holds.get(id)))
    open = [...holds.values()].filter((hold) => hold.isPlaced && hold.amount !== 0)
    missing = amount - open.reduce((sum, hold) => sum + hold.amount, 0)
  }
  const oldest = open.toSorted((one, other) => one.entries[0]!.position - other.entries[0]!.position)
  return { open: oldest.map(({ isPlaced: _, ...hold }) => hold), unexplained: missing }
}

type FoundHold = ExplainedHold & { readonly isPlaced: boolean }

function noteHold(holds: Map<string, FoundHold>, event: Recorded, { asOf }: Moment): void {
  if (!isEntry(event) || !('holdId' in event.data)) return
  const { holdId, entryId, subject, template, postings, effectiveAt } = event.data
  if (asOf !== undefined && effectiveAt > asOf) return
  const moved = postings.filter(({ account }) => isHeld(account))
  const amount = moved.reduce((sum, posting) => sum + effect(posting), 0)
  const { position, metadata, type } = event
  const entry: ExplainedEntry = { entryId, template, amount, effectiveAt, recordedAt: metadata.at, position }
  const later = { holdId, subject, amount, entries: [entry], isPlaced: type === 'HoldPlaced' }
  holds.set(holdId, joined(holds.get(holdId), later))
}

/** The earlier and the later part of what is known of a hold. */
function joined(earlier: FoundHold | undefined, later: FoundHold | undefined): FoundHold {
  if (!earlier || !later) return (earlier ?? later)!
  return {
    ...earlier,
    amount: earlier.amount + later.amount,
    entries: [...earlier.entries, ...later.entries],
    isPlaced: earlier.isPlaced || later.isPlaced,
  }
}
