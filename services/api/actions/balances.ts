import { cardCurrencies, markets } from '../../../packages/contract/catalog.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Caller, House, Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import {
  viewBalance, type BalanceQuery, type BalanceView, type CurrencyBalance, type TopUpRequest,
} from '../../../packages/domain/balances/balance.ts'
import { movementOf, nothing, sumOf } from '../../../packages/domain/balances/movement.ts'
import { bookId, type BookKey } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import type { Entry } from '../../../packages/domain/ledger/events.ts'
import type { Balances } from '../../../packages/domain/ledger/state.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { recorded } from '../../../packages/kernel/history.ts'
import type { Where } from '../../../packages/kernel/ports.ts'
import { balanceDays, balances } from '../../../projections/balances.ts'

const entriesAtOnce = 1_000
/** Days of more than twenty years. */
const daysMax = 8_000

/** Every currency in which a book can exist. */
const allCurrencies = [...new Set([...markets.map(({ currency }) => currency), ...cardCurrencies])]

/** As it is now, or as it was: read models are only where the reading of the books themselves begins. */
export async function showBalance(
  { caller, house, query }: Request<undefined, Static<typeof BalanceQuery>>,
): Promise<BalanceView> {
  const asOf = query.as_of && new Date(query.as_of).toISOString()
  return balanceOf(house, {
    ...caller, currencies: query.currency ? [query.currency] : undefined, until: asOf,
  })
}

/** Sandbox only: play money. */
export async function topUp(request: Request<Static<typeof TopUpRequest>>): Promise<BalanceView> {
  const { caller, house, id } = request
  if (caller.livemode) refuse('resource_must_exist')
  const { amount, currency } = request.body
  if (!allCurrencies.includes(currency)) {
    refuseField(
      'payment_must_be_eligible', '/currency', `"${currency}" is none of ${allCurrencies.join(', ')}`,
    )
  }
  const entry = { template: 'sandbox.topup', subject: { type: 'topup', id }, amount } as const
  await request.send(book, bookId(caller.merchant, false, currency), { type: 'PostEntry', data: entry })
  return balanceOf(house, { ...caller, currencies: undefined, until: undefined })
}

interface Question extends Pick<Caller, 'merchant' | 'livemode'> {
  /** Left out: those that have a book. */
  readonly currencies: readonly string[] | undefined
  /** RFC 3339: the last moment that counts. Left out: now. */
  readonly until: string | undefined
}

async function balanceOf(
  house: House, { merchant, livemode, currencies, until }: Question,
): Promise<BalanceView> {
  const asked = (currencies ?? allCurrencies).map((currency) => ({ merchant, livemode, currency, until }))
  const found = await Promise.all(asked.map((each) => standOf(house, each)))
  const shown = currencies ? found : found.filter(({ position }) => position > 0)
  return viewBalance(shown, { livemode, asOf: until ?? house.clock().toISOString() })
}

interface Asked extends BookKey {
  readonly until: string | undefined
}

async function standOf(house: House, asked: Asked): Promise<CurrencyBalance> {
  const { sum, entries } = await summed(house, asked)
  const stream = streamName(book.category, bookId(asked.merchant, asked.livemode, asked.currency))
  let balance = sum
  let position = 0
  let counted = entries
  // The last counted entry is read once more for its position.
  for (let from = Math.max(0, entries - 1); ; from += entriesAtOnce) {
    const events = await house.store.readStream(stream, from, entriesAtOnce)
    for (const event of events) {
      const entry = recorded(book, event).data as Entry
      if (asked.until !== undefined && entry.effectiveAt > asked.until) return {
        ...balance, position, currency: asked.currency,
      }
      if (event.revision >= counted) {
        balance = sumOf(balance, movementOf(entry))
        counted = event.revision + 1
      }
      position = event.position
    }
    if (events.length < entriesAtOnce) return { ...balance, position, currency: asked.currency }
  }
}

interface Summed {
  readonly sum: Balances
  /** How many entries of the book are in the sum. */
  readonly entries: number
}

/** All that the read models have counted for sure: the whole book, or its days before the one asked for. */
async function summed({ reads }: House, { merchant, livemode, currency, until }: Asked): Promise<Summed> {
  const where: Where[] = Object.entries({ merchant, livemode, currency }).map(
    ([column, value]) => ({ column, operator: '=', value }),
  )
  const { rows } = until === undefined
    ? await reads.page<Balances & { entries: number }>({
      from: balances.name, where, order: 'currency', limit: 1,
    })
    : await reads.page<Balances & { entries: number }>({
      from: balanceDays.name,
      where: [...where, { column: 'day', operator: '<', value: until.slice(0, 10) }],
      order: 'day',
      limit: daysMax,
    })
  return {
    sum: rows.reduce<Balances>(sumOf, nothing),
    entries: rows.reduce((sum, row) => sum + row.entries, 0),
  }
}
