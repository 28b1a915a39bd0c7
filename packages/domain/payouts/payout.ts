import { admitPayout } from '../../contract/payments/eligibility.ts'
import { begun } from '../../contract/existing.ts'
import { refuse, type RefusalName } from '../../contract/refusals.ts'
import type { Decider, Stamp } from '../../kernel/decider.ts'
import { isStillEligible, metadataOf, notEligible, repeated } from './admission.ts'
import { expectedBy } from './arrival.ts'
import { payoutRemedy, type Recorded, type Word } from './contradictions.ts'
import type { Destination } from './destination-request.ts'
import { payoutEvents, type DelayReason, type PayoutEvents } from './events.ts'
import type { Failure } from './failure.ts'
import type { PayoutMoney } from './money.ts'

// State

interface Details extends Readonly<PayoutEvents['PayoutRequested']>, Stamp {
  readonly delay: { readonly reason: DelayReason; readonly at: string } | null
  readonly contradictions: readonly Word[]
  readonly escalated: boolean
}

export type RequestedPayout =
  | (Details & { readonly status: 'pending' | 'canceled' })
  | (Details & { readonly status: 'in_transit'; readonly sentAt: string })
  | (Details & { readonly status: 'paid'; readonly paidAt: string })
  | (Details & Failed)

interface Failed {
  readonly status: 'failed'
  readonly failure: Failure
  /** Null except for money that came back. */
  readonly paidAt: string | null
  /** It arrived after all, and the book is asked to charge it again. */
  readonly charging?: boolean
}

export type Payout = { readonly status: 'none' } | { readonly status: 'abandoned' } | RequestedPayout

// Decisions

export type PayoutCommands = {
  RequestPayout: {
    money: PayoutMoney
    destination: Destination
    payoutMethod?: string | null
    batch?: string | null
    metadata?: Record<string, string>
  }
  AbandonPayout: { currency: string }
  SendPayout: object
  SettlePayout: object
  FailPayout: { failure: Failure }
  CancelPayout: { reason: string }
  ReturnPayout: object
  MarkDelayed: { reason: DelayReason }
  ReviseDelayReason: { reason: DelayReason }
  /** Confirmed: the operator repeats it when asked. */
  ContradictResult: { word: Word; isConfirmed: boolean }
  /** A person says that a payout that has failed here was paid. */
  ChargePayout: object
  RefuseCharge: { reason: string }
  SettleLatePayout: object
  EscalatePayout: object
}

/** Domain model 5.1: money may come back this long after it was paid. */
const returnableMs = 90 * 86_400_000

export const payout: Decider<Payout, PayoutCommands, PayoutEvents> = {
  category: 'payout',
  perOperation: true,
  events: payoutEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    RequestPayout(request, state, context) {
      if (state.status === 'abandoned') refuse('payout_must_not_be_abandoned')
      if ('money' in state) return repeated(state, request)
      const { money, destination, payoutMethod = null, batch = null } = request
      admitPayout({ currency: money.currency, amountMinor: money.amount }, destination)
      const metadata = metadataOf(request, context)
      const latest = expectedBy(destination, context)
      const data = { money, destination, payoutMethod, batch, metadata, expectedBy: latest }
      return [{ type: 'PayoutRequested', data }]
    },

    AbandonPayout({ currency }, { status }) {
      if (status !== 'none') return []
      return [{ type: 'PayoutAbandoned', data: { currency } }]
    },

    SendPayout(_, state) {
      const { status, money, destination } = requested(state)
      if (status !== 'pending') return []
      const isEligible = isStillEligible(money, destination)
      if (!isEligible) return [{ type: 'PayoutFailed', data: { money, failure: notEligible } }]
      return [{ type: 'PayoutSent', data: { money } }]
    },

    SettlePayout(_, state) {
      const { status, money } = requested(state)
      if (status === 'paid') return []
      if (status !== 'in_transit') refuseState('payout_must_be_in_transit', status, 'cannot be paid')
      return [{ type: 'PayoutPaid', data: { money } }]
    },

    FailPayout({ failure }, state) {
      const { status, money } = requested(state)
      if (status === 'failed') return []
      if (!isUnderWay(state)) refuseState('payout_must_be_under_way', status, 'cannot fail')
      return [{ type: 'PayoutFailed', data: { money, failure } }]
    },

    CancelPayout({ reason }, state) {
      const { status, money } = requested(state)
      if (status === 'canceled') return []
      if (status !== 'pending') refuseState('payout_must_be_pending', status, 'cannot be canceled')
      return [{ type: 'PayoutCanceled', data: { money, reason } }]
    },

    ReturnPayout(_, state, { now }) {
      const { status, money } = requested(state)
      if (status === 'failed' && wasPaid(state)) return []
      if (state.status !== 'paid') refuseState('payout_must_be_paid', status, 'cannot be returned')
      if (!isReturnable(state, now)) refuse('payout_must_be_returnable')
      return [{ type: 'PayoutReturned', data: { money } }]
    },

    MarkDelayed({ reason }, state, { now }) {
      if (!isUnderWay(state) || state.delay || now.getTime() < Date.parse(state.expectedBy)) return []
      return [{ type: 'PayoutDelayed', data: { reason } }]
    },

    ReviseDelayReason({ reason }, state) {
      if (!isUnderWay(state) || !state.delay || state.delay.reason === reason) return []
      return [{ type: 'PayoutDelayReasonRevised', data: { reason } }]
    },

    ContradictResult({ word, isConfirmed }, state, { now }) {
      const { contradictions, money } = requested(state)
      const recorded = recordOf(state)
      const rule = recorded && payoutRemedy(recorded, word)
      // It may have been settled since the operator's statement was found to contradict the record.
      if (word === 'returned' && isReturnable(state, now))
        return [{ type: 'PayoutReturned', data: { money } }]
      if (!recorded || !rule || contradictions.includes(word)) return []
      const remedy = isConfirmed ? rule : 'case'
      const data = { recorded, word, remedy, money }
      const contradicted = { type: 'PayoutResultContradicted', data } as const
      if (remedy === 'give_back') return [contradicted, { type: 'PayoutReturned', data: { money } }]
      return remedy === 'charge' && !isCharging(state) ? [contradicted, chargeOf(money)] : [contradicted]
    },

    ChargePayout(_, state) {
      const { status, money } = requested(state)
      if (status === 'paid' || isCharging(state)) return []
      if (recordOf(state) !== 'failed') refuseState('payout_must_have_failed', status, 'is not charged again')
      return [chargeOf(money)]
    },

    RefuseCharge({ reason }, state) {
      const { money } = requested(state)
      return isCharging(state) ? [{ type: 'PayoutChargeRefused', data: { money, reason } }] : []
    },

    SettleLatePayout(_, state) {
      const { status, money } = requested(state)
      if (status === 'paid') return []
      if (recordOf(state) !== 'failed') refuseState('payout_must_have_failed', status, 'cannot be paid late')
      return [{ type: 'PayoutPaidLate', data: { money } }]
    },

    EscalatePayout(_, state) {
      if (state.status !== 'in_transit' || state.escalated) return []
      return [{ type: 'PayoutEscalated', data: {} }]
    },
  },

  evolve: {
    PayoutRequested: (_, details, { merchant, livemode, at }) => {
      const pending = { status: 'pending', delay: null, contradictions: [], escalated: false } as const
      return Object.assign(pending, { merchant, livemode, at }, details)
    },
    PayoutAbandoned: () => ({ status: 'abandoned' }),
    PayoutSent: (state, _, { at }) => moved(state, { status: 'in_transit', sentAt: at }),
    PayoutPaid: (state, _, { at }) => moved(state, { status: 'paid', paidAt: at }),
    PayoutFailed: (state, { failure }) => moved(state, { status: 'failed', failure, paidAt: null }),
    PayoutCanceled: (state) => moved(state, { status: 'canceled' }),
    PayoutReturned: (state) => heard(state, { status: 'failed', failure: returned, paidAt: paidAt(state) }),
    PayoutDelayed: (state, { reason }, { at }) => ({ ...begun(state), delay: { reason, at } }),
    PayoutDelayReasonRevised: (state, { reason }) => ({
      ...begun(state),
      delay: revisedDelay(state, reason),
    }),
    PayoutContradicted: (state, { claim }) => withWord(state, claim),
    PayoutResultContradicted: (state, { word }) => withWord(state, word),
    PayoutChargeRequested: (state) => charging(state, true),
    PayoutChargeRefused: (state) => charging(state, false),
    PayoutPaidLate: (state, _, { at }) => heard(state, { status: 'paid', paidAt: at }),
    PayoutEscalated: (state) => ({ ...begun(state), escalated: true }),
  },
}

function isReturnable(state: Payout, now: Date): boolean {
  return state.status === 'paid' && now.getTime() - Date.parse(state.paidAt) <= returnableMs
}

function chargeOf(money: PayoutMoney) {
  return { type: 'PayoutChargeRequested', data: { money } } as const
}

function isCharging(state: Payout): boolean {
  return state.status === 'failed' && state.charging === true
}

function charging(state: Payout, is: boolean): RequestedPayout {
  const known = begun(state)
  return known.status === 'failed' ? { ...known, charging: is } : known
}

function withWord(state: Payout, word: Word): RequestedPayout {
  const known = begun(state)
  return { ...known, contradictions: [...known.contradictions, word] }
}

/** `undefined` while it is at the operator, where any statement may be true. */
function recordOf(state: Payout): Recorded | undefined {
  const { status } = requested(state)
  if (status === 'in_transit') return undefined
  return status === 'failed' && wasPaid(state) ? 'returned' : status
}

const returned: Failure = { code: 'returned', message: 'The money came back after it had been paid' }
function revisedDelay(state: Payout, reason: DelayReason): Details['delay'] {
  const { delay } = begun(state)
  return delay && { ...delay, reason }
}

type UnderWay = Exclude<RequestedPayout, { status: 'paid' | 'failed' }>

/** Not ended: it may still become late. */
export function isUnderWay(state: Payout): state is UnderWay {
  return state.status === 'pending' || state.status === 'in_transit'
}

function wasPaid(state: Payout): boolean {
  return paidAt(state) !== null
}

function paidAt(state: Payout): string | null {
  return state.status === 'paid' || state.status === 'failed' ? state.paidAt : null
}

export function requested(state: Payout): RequestedPayout {
  if (state.status === 'none' || state.status === 'abandoned') refuse('resource_must_exist')
  return state
}

/** The fields that a change of status keeps, with the new status. Spreading costs four times as much. */
function moved<const Status extends object>(state: Payout, status: Status): Details & Status {
  const known = begun(state)
  const { merchant, livemode, money, destination, payoutMethod, batch, metadata } = known
  const { expectedBy, at, delay, contradictions, escalated } = known
  const terms = { merchant, livemode, money, destination, payoutMethod, batch, metadata, expectedBy, at }
  return Object.assign(terms, { delay, contradictions, escalated }, status)
}

/** The record now agrees with what the operator said: the same word later is a new statement. */
function heard<const Status extends object>(state: Payout, status: Status): Details & Status {
  return moved({ ...begun(state), contradictions: [] }, status)
}

function refuseState(reason: RefusalName, status: RequestedPayout['status'], what: string): never {
  return refuse(reason, { detail: `A payout that is ${status} ${what}` })
}
