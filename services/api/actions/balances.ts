import { cardCurrencies, markets } from '../../../packages/contract/catalog.ts'
import { refuseField } from '../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import {
  viewBalance,
  type BalanceQuery,
  type BalanceView,
  type CurrencyBalance,
  type TopUpRequest,
} from '../../../packages/domain/balances/balance.ts'
import { stretchOf, type BalanceDay } from '../../../packages/domain/balances/days.ts'
import { movementOf, nothing, sumOf } from '../../../packages/domain/balances/movement.ts'
import { bookId, type BookKey } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import type { Entry } from '../../../packages/domain/ledger/events.ts'
import type { Balances } from '../../../packages/domain/ledger/state.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import { equal } from '../../../packages/kernel/read-ports.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import { ownedBy, type MerchantOwner } from '../../../packages/kernel/owner.ts'
import { shareOf } from '../kinds/list-scope.ts'
import { balanceDays, balances } from '../../../projections/balances.ts'

const entriesAtOnce = 1_000
/** Days of more than twenty years. */
const daysMax = 8_000

/** Every currency in which a book can exist. */
const allCurrencies = [...new Set([...markets.map(({ currency }) => currency), ...cardCurrencies])]

/** As it is now, or as it was: read models are only where the reading of the books themselves begins. */
export async function showBalance({
  caller,
  dependencies,
  query,
}: Request<undefined, Static<typeof BalanceQuery>>): Promise<BalanceView> {
  const asOf = query.as_of && new Date(query.as_of).toISOString()
  const currencies = query.currency ? [query.currency] : undefined
  return balanceOf(dependencies, { ...caller, currencies, until: asOf })
}

/** Sandbox only: play money. */
export async function topUp(request: Request<Static<typeof TopUpRequest>>): Promise<BalanceView> {
  const { caller, dependencies, id } = request
  const { amount, currency } = request.body
  if (!allCurrencies.includes(currency)) {
    const message = `"${currency}" is none of ${allCurrencies.join(', ')}`
    refuseField('payment_must_be_eligible', '/currency', message)
  }
  const entry = { template: 'sandbox.topup', subject: { type: 'topup', id }, amount } as const
  await request.send(book, bookId(caller.merchant, false, currency), { type: 'PostEntry', data: entry })
  return balanceOf(dependencies, { ...caller, currencies: undefined, until: undefined })
}

interface Question extends MerchantOwner {
  /** Left out: those that have a book. */
  readonly currencies: readonly string[] | undefined
  /** RFC 3339: the last moment that counts. Left out: now. */
  readonly until: string | undefined
}

async function balanceOf(dependencies: Dependencies, question: Question): Promise<BalanceView> {
  const { merchant, livemode, currencies, until } = question
  const asked = (currencies ?? allCurrencies).map((currency) => ({ merchant, livemode, currency, until }))
  const found = await Promise.all(asked.map((each) => standOf(dependencies, each)))
  const shown = currencies ? found : found.filter(({ position }) => position > 0)
  return viewBalance(shown, { livemode, asOf: until ?? dependencies.clock(question).toISOString() })
}

interface Asked extends BookKey {
  readonly until: string | undefined
}

async function standOf(dependencies: Dependencies, asked: Asked): Promise<CurrencyBalance> {
  const { until, currency } = asked
  if (until !== undefined) return standAt(dependencies, { ...asked, until })
  const { sum, entries } = await summed(dependencies, asked)
  let balance = sum
  let position = 0
  // The last counted entry is read once more for its position.
  for await (const event of entriesOf(dependencies, asked, { from: Math.max(0, entries - 1) })) {
    if (event.revision >= entries) balance = sumOf(balance, movementOf(event.data))
    position = event.position
  }
  return { ...balance, position, currency }
}

/** Whole days from the read model, and what of the days around it was effective by then, entry by entry. */
async function standAt(
  dependencies: Dependencies,
  asked: Asked & { readonly until: string },
): Promise<CurrencyBalance> {
  const { until, currency } = asked
  const { start, end, total } = stretchOf(await daysOf(dependencies, asked), until.slice(0, 10))
  const stretches = [{ from: Math.max(0, start.entries - 1), to: end }, { from: Math.max(end, total) }]
  let balance = start.sum
  let position = 0
  for (const stretch of stretches) {
    for await (const event of entriesOf(dependencies, asked, stretch)) {
      const isNew = event.revision >= start.entries
      if (isNew && event.data.effectiveAt > until) continue
      if (isNew) balance = sumOf(balance, movementOf(event.data))
      position = event.position
    }
  }
  return { ...balance, position, currency }
}

interface Revisions {
  readonly from: number
  /** The first that is left out. */
  readonly to?: number
}

async function* entriesOf(
  { store }: Dependencies,
  { merchant, livemode, currency }: BookKey,
  asked: Revisions,
) {
  const stream = streamName(book.category, bookId(merchant, livemode, currency))
  const { from, to = Number.POSITIVE_INFINITY } = asked
  for (let next = from; next < to; next += entriesAtOnce) {
    const limit = Math.min(entriesAtOnce, to - next)
    const events = await store.readStream(stream, next, limit)
    // Its own events, so their data is an entry: only the erasure in `recorded` hides it.
    for (const event of events) yield recordedEvent(book, event) as RecordedEvent<Entry>
    if (events.length < limit) return
  }
}

interface Summed {
  readonly sum: Balances
  /** How many entries of the book are in the sum. */
  readonly entries: number
}

/** All that the read model has counted: the first entries of the book. */
async function summed({ reads }: Dependencies, { currency, ...owner }: Asked): Promise<Summed> {
  const where = equal({ ...ownedBy(owner), currency })
  const query = { from: balances.name, where, order: 'currency', limit: 1 }
  const { rows } = await reads.page<Balances & { readonly entries: number }>(query)
  return { sum: rows.reduce<Balances>(sumOf, nothing), entries: rows[0]?.entries ?? 0 }
}

async function daysOf(
  { reads }: Dependencies,
  { currency, ...owner }: Asked,
): Promise<readonly BalanceDay[]> {
  const where = equal({ ...ownedBy(owner), currency })
  const query = { from: balanceDays.name, share: shareOf(owner), where, order: 'day', limit: daysMax }
  return (await reads.page<BalanceDay>({ ...query, ascending: true })).rows
}
