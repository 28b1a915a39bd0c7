import { bookCurrencies } from '../../../packages/contract/payments/catalog.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import {
  momentOf,
  viewBalance,
  type BalanceQuery,
  type BalanceView,
  type CurrencyBalance,
  type TopUpRequest,
} from '../../../packages/domain/balances/balance.ts'
import { cellsOf, planOf, sumOfCells, type Moment } from '../../../packages/domain/balances/days.ts'
import {
  viewExplanation,
  type ExplainQuery,
  type ExplanationView,
} from '../../../packages/domain/balances/explanation.ts'
import { movementOf, sumOf } from '../../../packages/domain/balances/movement.ts'
import { bookId, type BookKey } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import type { PostEntry } from '../../../packages/domain/ledger/commands.ts'
import { isEntry } from '../../../packages/domain/ledger/events.ts'
import { merchant } from '../../../packages/domain/merchants/merchant.ts'
import { readState } from '../../../packages/kernel/history.ts'
import { ownerOf, type MerchantOwner } from '../../../packages/kernel/owner.ts'
import { postOnce } from '../../composition/books/post-once.ts'
import { shareOf } from '../../../infra/postgres/client/shared-reads.ts'
import { daysOf, entriesBy, eventsOf, isBegun, summed } from '../../composition/books/book-history.ts'
import { explainBalance } from '../../composition/books/explain-balance.ts'

/** Now or in the past: the read model only says from where the books themselves must be read. */
export async function showBalance({
  caller,
  dependencies,
  query,
}: Request<undefined, Static<typeof BalanceQuery>>): Promise<BalanceView> {
  const currencies = query.currency ? [query.currency] : undefined
  return balanceOf(dependencies, { ...caller, currencies, ...momentOf(query) })
}

/** Sums and holds of one part of a balance; whatever does not add up is shown. */
export async function explain({
  caller,
  dependencies,
  query,
}: Request<undefined, Static<typeof ExplainQuery>>): Promise<ExplanationView> {
  const { account = 'available' } = query
  const { merchant: id, livemode } = caller
  const currency = query.currency ?? (await currencyOf(dependencies, id))
  const moment = momentOf(query)
  const found = await explainBalance(dependencies, {
    book: { merchant: id, livemode, currency },
    part: account,
    share: shareOf(ownerOf(caller)),
    ...moment,
  })
  const asOf = moment.asOf ?? dependencies.clock(caller).toISOString()
  return viewExplanation(found, { livemode, currency, account, asOf, knownAt: moment.knownAt })
}

/** The currency in which the merchant was taken on. */
async function currencyOf({ store }: Dependencies, id: string): Promise<string> {
  const found = await readState(store, merchant, id)
  if (found.status === 'none') refuse('resource_must_exist')
  return found.currency
}

/** Sandbox only: play money. */
export async function topUp(request: Request<Static<typeof TopUpRequest>>): Promise<BalanceView> {
  const { caller, dependencies } = request
  const { amount, currency } = request.body
  if (!bookCurrencies.includes(currency)) {
    const message = `"${currency}" is none of ${bookCurrencies.join(', ')}`
    refuseField('payment_must_be_eligible', '/currency', message)
  }
  const entry = { template: 'sandbox.topup', subject: { type: 'topup', id: request.id }, amount } as const
  const id = bookId(caller.merchant, false, currency)
  const send = (data: PostEntry) => request.send(book, id, { type: 'PostEntry', data })
  await postOnce(dependencies, { bookId: id, entry, send })
  return balanceOf(dependencies, caller)
}

interface Question extends MerchantOwner, Moment {
  /** Left out: those that have a book. */
  readonly currencies?: readonly string[] | undefined
}

interface Standing extends CurrencyBalance {
  /** How many events of the book are in it. */
  readonly entries: number
}

async function balanceOf(dependencies: Dependencies, question: Question): Promise<BalanceView> {
  const { merchant, livemode, currencies, asOf, knownAt } = question
  const asked = (currencies ?? bookCurrencies).map((currency) => ({
    merchant,
    livemode,
    currency,
    asOf,
    knownAt,
  }))
  const found = await Promise.all(asked.map((each) => standOf(dependencies, each)))
  const shown = currencies ? found : await begunAmong(dependencies, question, found)
  const now = dependencies.clock(question).toISOString()
  return viewBalance(shown, { livemode, asOf: asOf ?? now, ...(knownAt !== undefined && { knownAt }) })
}

/** Months are closed in books that have not begun, too: nobody has a balance there. */
async function begunAmong(
  dependencies: Dependencies,
  { merchant, livemode }: MerchantOwner,
  found: readonly Standing[],
): Promise<readonly Standing[]> {
  const begun = found.map(({ available, pending, reserved, entries, currency }) => {
    if (entries === 0) return false
    return (
      [available, pending, reserved].some(Boolean) || isBegun(dependencies, { merchant, livemode, currency })
    )
  })
  const areBegun = await Promise.all(begun)
  return found.filter((_, index) => areBegun[index])
}

interface Asked extends BookKey, Moment {}

/** Read models are only where the reading of the book itself begins. */
async function standOf(dependencies: Dependencies, asked: Asked): Promise<Standing> {
  const { asOf, knownAt, ...key } = asked
  if (asOf !== undefined || knownAt !== undefined) return standAt(dependencies, key, { asOf, knownAt })
  const { sum, entries: counted } = await summed(dependencies, key)
  let [balance, entries] = [sum, counted]
  for await (const event of eventsOf(dependencies, key, { from: counted })) {
    if (isEntry(event)) balance = sumOf(balance, movementOf(event.data))
    entries++
  }
  return { ...balance, entries, currency: key.currency }
}

/** Whole days from the read model, and one by one what of the days around it counted or was known by then. */
async function standAt(dependencies: Dependencies, key: BookKey, moment: Moment): Promise<Standing> {
  const cells = cellsOf(await daysOf(dependencies, { book: key, share: shareOf(ownerOf(key)) }))
  const plan = planOf(cells, moment)
  let { entries, ...balance } = sumOfCells(cells, plan)
  for await (const { data } of entriesBy(dependencies, key, { ...moment, plan })) {
    balance = sumOf(balance, movementOf(data))
    entries++
  }
  return { ...balance, entries, currency: key.currency }
}
