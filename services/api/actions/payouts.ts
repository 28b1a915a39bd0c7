import { identity } from '../../../packages/contract/identity.ts'
import { choiceOf, requireRail } from '../../../packages/contract/payments/rails.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import { bookId } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import { readDestination, refuseDestination } from '../../../packages/domain/payouts/destination-request.ts'
import { payoutDestination, usableDestination } from '../../../packages/domain/payouts/destination.ts'
import { failureOf } from '../../../packages/domain/payouts/failure.ts'
import { payout, type Payout, type PayoutCommands } from '../../../packages/domain/payouts/payout.ts'
import {
  viewPayout,
  type PayoutCallback,
  type PayoutRequest,
  type PayoutResource,
} from '../../../packages/domain/payouts/resource.ts'
import { payoutSettings, payoutSettingsId } from '../../../packages/domain/payouts/settings.ts'
import { agreeTerms, holdFor, type Wanted } from '../../../packages/domain/payouts/terms.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { RailState } from '../../../packages/kernel/ports/rails.ts'
import { placeHold } from '../../composition/books/place-hold.ts'
import { currentStream } from '../kinds/current-state.ts'
import { refuseUnknown } from '../kinds/prefixes.ts'

type PayoutBody = Static<typeof PayoutRequest>
type Created = Static<typeof PayoutResource>
type Requested = PayoutCommands['RequestPayout']

/** Where the money goes, and the saved destination that says so. */
type Target = Pick<Wanted, 'destination' | 'takes'> & { readonly payoutMethod: string | null }

/** Spec, Payouts: exactly one of `destination` and `payout_method_id`. */
export async function preparePayout(request: Request<PayoutBody>): Promise<Requested> {
  const target = await namedTarget(request)
  return holdMoney(request, target ?? refuseDestination('/destination', 'No destination is given'))
}

/** The same for the merchant's own pages, where the default destination is taken when none is named. */
export async function prepareMerchantPayout(request: Request<PayoutBody>): Promise<Requested> {
  return holdMoney(request, (await namedTarget(request)) ?? (await defaultTarget(request)))
}

/**
 * Two streams, in this order: money is held first, so that an uncovered payout leaves no trace. A crash in
 * between is repaired by the repeat with the same key, which holds nothing twice, or by `hold_unclaimed`.
 */
async function holdMoney(request: Request<PayoutBody>, found: Target): Promise<Requested> {
  const { payoutMethod, ...target } = found
  const { id, body, caller, dependencies } = request
  const { merchant, livemode } = caller
  const { amount, currency, metadata } = body
  const { money, destination } = agreeTerms(
    { merchant, amount, currency, ...target },
    dependencies.clock(caller),
  )
  requireRail(dependencies.rail, choiceOf({ livemode, method: destination }))
  const hold = { type: 'PlaceHold', data: holdFor(id, money) } as const
  const inBook = bookId(merchant, livemode, currency)
  await placeHold(dependencies.store, hold.data, (options) => request.send(book, inBook, hold, options))
  return { money, destination, payoutMethod, ...(metadata && { metadata }) }
}

function shown(id: string, state: Payout): Created {
  return viewPayout(id, state) ?? refuse('resource_must_exist')
}

async function namedTarget(request: Request<PayoutBody>): Promise<Target | undefined> {
  const { destination, payout_method_id: saved } = request.body
  if (destination && saved) refuseDestination('/payout_method_id', 'Give no destination beside it')
  if (destination) {
    const takes = { currency: destination.currency ?? null, pointer: '/destination/currency' }
    return { destination: readDestination(destination, '/destination'), takes, payoutMethod: null }
  }
  return saved ? savedTarget(request, saved) : undefined
}

async function savedTarget({ caller, dependencies }: Request<PayoutBody>, saved: string): Promise<Target> {
  const id = identity(saved) ?? refuseDestination('/payout_method_id', `"${saved}" is no saved destination`)
  const { merchant, livemode } = caller
  const state = await readState(dependencies.store, payoutDestination, id)
  const { destination, currency } = usableDestination(state, {
    merchant,
    livemode,
    now: dependencies.clock(caller),
  })
  return { destination, takes: { currency, pointer: '/payout_method_id' }, payoutMethod: id }
}

async function defaultTarget(request: Request<PayoutBody>): Promise<Target> {
  const id = payoutSettingsId(request.caller)
  const { defaultDestination } = (await request.dependencies.executor.current(payoutSettings, id)).state
  if (defaultDestination) return savedTarget(request, defaultDestination)
  return refuseDestination('/destination', 'No destination is given, and there is no default destination')
}

/**
 * Sandbox only: the merchant decides the operator's answer. A payout that has ended differently stays as it
 * is.
 */
export async function playOperator(request: Request<Static<typeof PayoutCallback>>): Promise<Created> {
  const { dependencies, body } = request
  const id = identity(body.payout_id, 'po')
  if (!id || !(await currentStream(request, { decider: payout, id })))
    refuseUnknown('/payout_id', 'payout', body.payout_id)
  const sent = await request.send(payout, id, { type: 'SendPayout', data: {} }, { mustExist: true })
  const { status } = sent.state
  if (status !== 'in_transit' && status !== body.status) {
    refuse('payout_must_be_in_transit', { detail: `The payout is already ${status}` })
  }
  const failure = failureOf(body.failure_code, body.failure_message)
  const result: RailState = body.status === 'paid' ? { state: 'succeeded' } : { state: 'failed', ...failure }
  // The operator may have ended it by itself a moment ago: then its answer counts.
  const said = await dependencies.sandboxRail.resolve(id, result)
  const { state } =
    said.state === 'failed'
      ? await request.send(payout, id, {
          type: 'FailPayout',
          data: { failure: failureOf(said.code, said.message) },
        })
      : await request.send(payout, id, { type: 'SettlePayout', data: {} })
  return shown(id, state)
}
