import { derivedId } from '../../packages/contract/identity.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { bookId, merchantAvailable } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balanceOf, type Book } from '../../packages/domain/ledger/state.ts'
import { merchant as merchantDecider } from '../../packages/domain/merchants/merchant.ts'
import { payoutDestination, usableDestination } from '../../packages/domain/payouts/destination.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import { agreeScheduled, nextPayoutDay } from '../../packages/domain/payouts/schedule.ts'
import { payoutSettings, type PayoutSettings } from '../../packages/domain/payouts/settings.ts'
import { agreeTerms, type Terms } from '../../packages/domain/payouts/terms.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import { isPassing } from '../composition/failures.ts'
import type { Tools } from './process.ts'

/** Pays a merchant what is available, to the default destination, at most once a day. */
export async function payScheduled(timer: DueTimer, tools: Tools): Promise<Date | undefined> {
  const { dependencies } = tools
  const settings = await readState(dependencies.store, payoutSettings, timer.subject)
  if (settings.frequency === 'manual') return undefined
  const now = dependencies.clock()
  const id = derivedId(timer.subject, now.toISOString().slice(0, 10))
  const known = await readState(dependencies.store, payout, id)
  if (known.status === 'none') await pay(id, { timer, settings, tools })
  return nextPayoutDay(settings.frequency, now)
}

interface Payday {
  readonly timer: DueTimer
  readonly settings: PayoutSettings
  readonly tools: Tools
}

/** A destination that cannot be used today, or too little money: then nothing is paid until the next day. */
async function pay(id: string, { timer, settings, tools }: Payday): Promise<void> {
  const { dependencies } = tools
  const { merchant, livemode } = timer
  const owner = { merchant, livemode }
  try {
    const terms = await agreeOnTerms(id, { timer, settings, tools })
    if (!terms) return
    const { money, destination } = terms
    const { amount, fee, currency, source } = money
    const hold = { template: 'payout.hold', subject: { type: 'payout', id }, amount, fee, source } as const
    const place = to(book, bookId(merchant, livemode, currency), { type: 'PlaceHold', data: hold })
    await tools.send(place, owner, 'timer')
    const request = { money, destination, payoutMethod: settings.defaultDestination }
    await tools.send(to(payout, id, { type: 'RequestPayout', data: request }), owner, 'timer')
  } catch (error) {
    if (!(error instanceof Refusal) || isPassing(error)) throw error
    dependencies.log.info({ merchant, livemode, reason: error.reason }, 'no scheduled payout today')
  }
}

async function agreeOnTerms(id: string, { timer, settings, tools }: Payday): Promise<Terms | undefined> {
  const { dependencies } = tools
  const { merchant, livemode } = timer
  const now = dependencies.clock()
  if (!settings.defaultDestination) return undefined
  const saved = usableDestination(
    await readState(dependencies.store, payoutDestination, settings.defaultDestination),
    { merchant, livemode, now },
  )
  const currency = saved.currency ?? (await currencyOf(dependencies, merchant))
  const { destination } = saved
  const state = await bookNow(dependencies, bookId(merchant, livemode, currency))
  const takes = { currency: saved.currency, pointer: '/default_destination_id' }
  const wanted = { merchant, currency, destination, takes }
  const held = state.holds[id]?.amounts
  // A first try that was cut short has left its hold: what it held is what is paid.
  if (held) return agreeTerms({ ...wanted, amount: held.amount }, now)
  return agreeScheduled(settings, { ...wanted, available: balanceOf(state, merchantAvailable) }, now)
}

async function currencyOf(dependencies: Dependencies, id: string): Promise<string> {
  const state = await readState(dependencies.store, merchantDecider, id)
  if (state.status === 'none') throw new Error(`merchant ${id} does not exist`)
  return state.currency
}

async function bookNow(dependencies: Dependencies, id: string): Promise<Book> {
  const { state } = await dependencies.executor.sendAll(book, id, [])
  // The executor erases the types of deciders; without commands it answers the state of the book as it is.
  return state as Book
}
