import type { Dependencies } from '../../packages/contract/routes.ts'
import { planOf, type Cell, type Moment, type Plan } from '../../packages/domain/balances/days.ts'
import { bookId, type BookKey } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { isEntry, type Entry } from '../../packages/domain/ledger/events.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { recordedEvent } from '../../packages/kernel/history.ts'
import { ownedBy } from '../../packages/kernel/owner.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { equal } from '../../packages/kernel/read-ports.ts'
import { balanceDays } from '../../projections/balances.ts'

type Stores = Pick<Dependencies, 'store' | 'reads'>

const eventsAtOnce = 1_000
/** Days, accounts and templates of more than twenty years. */
const rowsMax = 200_000

export interface DayRow extends Cell {
  /** Empty for the whole book. */
  readonly account: string
  readonly template: string
  readonly purpose: string
  readonly debits: number | null
  readonly credits: number | null
}

export interface BookDays {
  readonly cells: readonly Cell[]
  /** Of the accounts that were asked for. */
  readonly flows: readonly DayRow[]
}

export interface DaysAsked {
  readonly book: BookKey
  readonly accounts?: readonly string[]
  /** Whose share of the reads this is part of. */
  readonly share?: string
}

/** What the read model knows of the days of a book, as of one moment. */
export async function daysOf(
  { reads }: Stores,
  { book, accounts = [], share }: DaysAsked,
): Promise<BookDays> {
  const { currency, ...owner } = book
  const wanted = { column: 'account', operator: 'in', value: ['', ...accounts] } as const
  const { rows } = await reads.page<DayRow>({
    from: balanceDays.name,
    ...(share !== undefined && { share }),
    where: [...equal({ ...ownedBy(owner), currency }), wanted],
    order: 'cell',
    ascending: true,
    limit: rowsMax,
  })
  if (rows.length === rowsMax)
    throw new Error(`book ${bookId(owner.merchant, owner.livemode, currency)} has too many days`)
  return {
    cells: rows.filter(({ account }) => account === ''),
    flows: rows.filter(({ account }) => account !== ''),
  }
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
