import { derivedId } from '../../packages/contract/identity.ts'
import { choiceOf, requireRail } from '../../packages/contract/payments/rails.ts'
import { Refusal, refuse } from '../../packages/contract/refusals.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { bookId, merchantAvailable } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balanceOf, type Book } from '../../packages/domain/ledger/state.ts'
import { payoutDestination, usableDestination } from '../../packages/domain/payouts/destination.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import { duePayoutRun } from '../../packages/domain/payouts/schedule.ts'
import { agreeScheduled, keptMinimum } from '../../packages/domain/payouts/scheduled-terms.ts'
import { payoutSettings, type PayoutSettings } from '../../packages/domain/payouts/settings.ts'
import { agreeTerms, holdFor, type Terms } from '../../packages/domain/payouts/terms.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { isPassing } from '../composition/observing/failures.ts'
import { placeHold } from '../composition/books/place-hold.ts'
import { existingMerchant } from './existing-merchant.ts'
import type { Tools } from './runner/process.ts'

/**
 * Pays out a merchant's available balance to the default destination, once per due run: missed ones too, one
 * after the other.
 */
export async function payScheduled(timer: DueTimer, tools: Tools): Promise<undefined> {
  const owner = { merchant: timer.merchant, livemode: timer.livemode }
  do {
    const settings = await settingsNow(tools, timer.subject)
    const dueAt = duePayoutRun(settings, tools.dependencies.clock())
    if (dueAt === undefined) return
    const id = derivedId(timer.subject, dueAt.slice(0, 10))
    const result = await runOnce(id, { timer, settings, tools })
    const note = { type: 'NoteScheduledRun', data: { dueAt, ...result } } as const
    await tools.send(to(payoutSettings, timer.subject, note), owner, 'timer')
  } while (!tools.onePeriod)
}

interface Payday {
  readonly timer: DueTimer
  readonly settings: PayoutSettings
  readonly tools: Tools
}

type Result = { readonly payout: string } | { readonly skipped: string }

/** The destination cannot be used today, or there is too little money: nothing is paid until the next run. */
async function runOnce(id: string, { timer, settings, tools }: Payday): Promise<Result> {
  const { dependencies } = tools
  const { merchant, livemode } = timer
  const { status } = await readState(dependencies.store, payout, id)
  if (status === 'abandoned') return { skipped: 'payout_abandoned' }
  if (status !== 'none') return { payout: id }
  try {
    const terms = await agreeOnTerms(id, { timer, settings, tools })
    if (!terms) return { skipped: 'balance_must_cover_amount_and_fees' }
    await request(id, terms, { timer, settings, tools })
    return { payout: id }
  } catch (error) {
    if (!(error instanceof Refusal) || isPassing(error)) throw error
    dependencies.log.info({ merchant, livemode, reason: error.reason }, 'no scheduled payout today')
    return { skipped: error.reason }
  }
}

async function request(id: string, terms: Terms, { timer, settings, tools }: Payday): Promise<void> {
  const { merchant, livemode } = timer
  const { money, destination } = terms
  requireRail(tools.dependencies.rail, choiceOf({ livemode, method: destination }))
  const inBook = bookId(merchant, livemode, money.currency)
  const hold = { type: 'PlaceHold', data: holdFor(id, money) } as const
  const envelope = { merchant, livemode, actor: 'timer', correlation: tools.dependencies.newId() }
  await placeHold(tools.dependencies.store, hold.data, (options) => {
    return tools.dependencies.executor.send(book, inBook, hold, { ...envelope, ...options })
  })
  const data = { money, destination, payoutMethod: settings.defaultDestination }
  await tools.send(to(payout, id, { type: 'RequestPayout', data }), { merchant, livemode }, 'timer')
}

async function agreeOnTerms(id: string, { timer, settings, tools }: Payday): Promise<Terms | undefined> {
  const { dependencies } = tools
  const { merchant, livemode } = timer
  const now = dependencies.clock()
  const { status, currency: own } = await existingMerchant(dependencies, merchant)
  if (status === 'suspended') refuse('merchant_must_not_be_suspended')
  const { defaultDestination } = settings
  if (!defaultDestination) refuse('payout_must_have_one_valid_destination')
  const saved = usableDestination(
    await readState(dependencies.store, payoutDestination, defaultDestination),
    { merchant, livemode, now },
  )
  const currency = saved.currency ?? own
  const { destination } = saved
  const state = await bookNow(dependencies, bookId(merchant, livemode, currency))
  const takes = { currency: saved.currency, pointer: '/default_destination_id' }
  const wanted = { merchant, currency, destination, takes }
  const held = state.holds[id]?.amounts
  // An interrupted first try has left its hold: the amount held is what is paid.
  if (held) return agreeTerms({ ...wanted, amount: held.amount }, now)
  const available = balanceOf(state, merchantAvailable)
  return agreeScheduled(keptMinimum(settings, currency, own), { ...wanted, available }, now)
}

async function settingsNow({ dependencies }: Tools, id: string): Promise<PayoutSettings> {
  return (await dependencies.executor.current(payoutSettings, id)).state
}

async function bookNow(dependencies: Dependencies, id: string): Promise<Book> {
  return (await dependencies.executor.current(book, id)).state
}
