import type { Dependencies } from '../../../packages/contract/routes.ts'
import { planOf, type CellPart, type Moment, type Plan } from '../../../packages/domain/balances/days.ts'
import { bookId, type BookKey } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import { isEntry, type Entry } from '../../../packages/domain/ledger/events.ts'
import { nothing, sumOf } from '../../../packages/domain/balances/movement.ts'
import type { Balances } from '../../../packages/domain/ledger/state.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import { ownedBy } from '../../../packages/kernel/owner.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import { equal } from '../../../packages/kernel/ports/reads.ts'
import { balanceDays, balances } from '../../../projections/balances.ts'

type Stores = Pick<Dependencies, 'store' | 'reads'>

const eventsAtOnce = 1_000
/** Days and templates of more than twenty years. */
const rowsMax = 200_000

export interface DaysAsked {
  readonly book: BookKey
  /** Whose share of the reads this is part of. */
  readonly share?: string
}

/** What the read model knows of the days of a book, as of one moment. */
export async function daysOf({ reads }: Stores, { book, share }: DaysAsked): Promise<readonly CellPart[]> {
  const { currency, ...owner } = book
  const { rows } = await reads.page<CellPart>({
    from: balanceDays.name,
    ...(share !== undefined && { share }),
    where: equal({ ...ownedBy(owner), currency }),
    order: 'cell',
    ascending: true,
    limit: rowsMax,
  })
  if (rows.length === rowsMax)
    throw new Error(`book ${bookId(owner.merchant, owner.livemode, currency)} has too many days`)
  return rows
}

export interface Summed {
  readonly sum: Balances
  /** How many events of the book are in the sum. */
  readonly entries: number
}

/** All that the read model `balances` has counted: the first events of the book. */
export async function summed(
  { reads }: Pick<Stores, 'reads'>,
  { currency, ...owner }: BookKey,
): Promise<Summed> {
  const where = equal({ ...ownedBy(owner), currency })
  const query = { from: balances.name, where, order: 'currency', limit: 1 }
  const { rows } = await reads.page<Balances & { readonly entries: number }>(query)
  return { sum: rows.reduce<Balances>(sumOf, nothing), entries: rows[0]?.entries ?? 0 }
}

/** The entries that count by some moment, beside those in the cells of `plan` that count as a whole. */
export async function* entriesBy(
  stores: Stores,
  book: BookKey,
  { plan, asOf, knownAt }: Moment & { readonly plan: Plan },
): AsyncGenerator<RecordedEvent<Entry>, void> {
  for (const { from, to } of plan.read) {
    for await (const event of eventsOf(stores, book, { from, to })) {
      if (!isEntry(event)) continue
      if (knownAt !== undefined && event.metadata.at > knownAt) return
      if (asOf === undefined || event.data.effectiveAt <= asOf) yield event
    }
  }
}

/** A whole book, or what was in it by then: read from its stream alone. */
export function wholeBook(stores: Stores, book: BookKey, moment: Moment = {}) {
  return entriesBy(stores, book, { ...moment, plan: planOf([], moment) })
}

/** Whether anything was booked in it before a revision. Mostly its first event tells. */
export async function isBegun(
  stores: Pick<Stores, 'store'>,
  book: BookKey,
  before = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  for (const part of [
    { from: 0, to: Math.min(1, before) },
    { from: 1, to: before },
  ])
    for await (const event of eventsOf(stores, book, part)) if (isEntry(event)) return true
  return false
}

/** The first revision of a book that was not known at a time, as `balances_at` counts; mostly none. */
export async function knownBefore(
  stores: Pick<Stores, 'store'>,
  book: BookKey,
  knownAt?: Date,
): Promise<number> {
  if (knownAt === undefined) return Number.POSITIVE_INFINITY
  const at = knownAt.toISOString()
  for await (const event of eventsOf(stores, book, { from: 0 }))
    if (isEntry(event) && event.metadata.at > at) return event.revision
  return Number.POSITIVE_INFINITY
}

interface Revisions {
  readonly from: number
  /** The first that is left out. */
  readonly to?: number
}

/** Events of a book in the order of its stream. */
export async function* eventsOf(
  { store }: Pick<Stores, 'store'>,
  { merchant, livemode, currency }: BookKey,
  { from, to = Number.POSITIVE_INFINITY }: Revisions,
): AsyncGenerator<RecordedEvent<Entry>, void> {
  const stream = streamName(book.category, bookId(merchant, livemode, currency))
  for (let next = from; next < to; next += eventsAtOnce) {
    const limit = Math.min(eventsAtOnce, to - next)
    const events = await store.readStream(stream, next, limit)
    // Its own events: only the erasure in `recorded` hides it. Whoever reads them looks for entries.
    for (const event of events) yield recordedEvent(book, event) as RecordedEvent<Entry>
    if (events.length < limit) return
  }
}
