import { admitPayout } from '../../contract/eligibility.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import {
  AmountMinor,
  CountMinor,
  Currency,
  literals,
  Metadata,
  nullable,
  record,
  Timestamp,
  Type,
  type Static,
} from '../../contract/vocabulary.ts'
import type { Context, Decider, Stamp } from '../../kernel/decider.ts'
import { stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import { Account } from '../ledger/accounts.ts'
import { expectedBy } from './arrival.ts'
import { Destination } from './destination-request.ts'
import { Failure } from './failure.ts'

/** What the ledger needs to know at each step; in every event, because a policy sees nothing else. */
export const PayoutMoney = record({
  amount: AmountMinor,
  fee: CountMinor,
  currency: Currency,
  /** The account that pays. */
  source: Account,
  /** `mobile_money.SN.wave`: where the money leaves us. */
  rail: Type.String(),
})

export type PayoutMoney = Static<typeof PayoutMoney>

/** Spec, Payout: delay_reason. */
export const DelayReason = literals('operator_pending', 'operator_timeout', 'operator_down', 'unknown')

export type DelayReason = Static<typeof DelayReason>

/** What an operator may claim when we know better. */
const Claim = literals('paid', 'failed', 'returned')

// Events

/** Where the money goes is said once, by the request. */
function withoutDestination({ destination: _, ...older }: Record<string, never>): object {
  return withoutStamp(older)
}

export const payoutEvents = {
  PayoutRequested: stored(
    2,
    record({
      money: PayoutMoney,
      destination: Destination,
      /** The saved destination that was named. */
      payoutMethod: nullable(Type.String()),
      batch: nullable(Type.String()),
      metadata: Metadata,
      expectedBy: Timestamp,
    }),
    { 1: withoutStamp },
  ),
  /** Money was held for a request that never came to this stream; it never will. */
  PayoutAbandoned: stored(2, record({ currency: Currency }), { 1: withoutStamp }),
  PayoutSent: stored(2, record({ money: PayoutMoney }), { 1: withoutDestination }),
  PayoutPaid: stored(2, record({ money: PayoutMoney }), { 1: withoutStamp }),
  PayoutFailed: stored(2, record({ money: PayoutMoney, failure: Failure }), { 1: withoutStamp }),
  PayoutCanceled: stored(2, record({ money: PayoutMoney, reason: Type.String() }), { 1: withoutStamp }),
  PayoutReturned: stored(2, record({ money: PayoutMoney }), { 1: withoutStamp }),
  PayoutDelayed: stored(2, record({ reason: DelayReason }), { 1: withoutStamp }),
  PayoutDelayReasonRevised: stored(2, record({ reason: DelayReason }), { 1: withoutStamp }),
  /** The operator reported what cannot be true any more. Nothing follows from it but a person's question. */
  PayoutContradicted: stored(2, record({ claim: Claim }), { 1: withoutStamp }),
  /** Nobody has learned the outcome in three days: a case for the support. */
  PayoutEscalated: stored(2, record({}), { 1: withoutStamp }),
}

export type PayoutEvents = EventsOf<typeof payoutEvents>

// State

interface Details extends Readonly<PayoutEvents['PayoutRequested']>, Stamp {
  readonly delay: { readonly reason: DelayReason; readonly at: string } | null
  readonly contradictions: readonly Static<typeof Claim>[]
  readonly escalated: boolean
}

export type RequestedPayout =
  | (Details & { readonly status: 'pending' | 'canceled' })
  | (Details & { readonly status: 'in_transit'; readonly sentAt: string })
  | (Details & { readonly status: 'paid'; readonly paidAt: string })
  /** `paidAt` is null but for money that came back. */
  | (Details & { readonly status: 'failed'; readonly failure: Failure; readonly paidAt: string | null })

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
  RecordContradiction: { claim: Static<typeof Claim> }
  EscalatePayout: object
}

/** Domain model 5.1: money may come back so long after it was paid. */
const returnableMs = 90 * 86_400_000

export const payout: Decider<Payout, PayoutCommands, PayoutEvents> = {
  category: 'payout',
  events: payoutEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    RequestPayout(request, state, context) {
      if (state.status === 'abandoned')
        refuseState('The request took too long and its money has been given back')
      if ('money' in state) return repeated(state, request)
      const { money, destination, payoutMethod = null, batch = null } = request
      admitPayout({ currency: money.currency, amountMinor: money.amount }, destination)
      const metadata = metadataOf(request, context)
      const terms = { money, destination, payoutMethod, batch, metadata }
      const data = { ...terms, expectedBy: expectedBy(destination, context) }
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
      if (wasPaid(state)) return []
      if (status !== 'in_transit') refuseState(`A payout that is ${status} cannot be paid`)
      return [{ type: 'PayoutPaid', data: { money } }]
    },

    FailPayout({ failure }, state) {
      const { status, money } = requested(state)
      if (status === 'failed') return []
      if (!isUnderWay(state)) refuseState(`A payout that is ${status} cannot fail`)
      return [{ type: 'PayoutFailed', data: { money, failure } }]
    },

    CancelPayout({ reason }, state) {
      const { status, money } = requested(state)
      if (status === 'canceled') return []
      if (status !== 'pending') refuseState(`A payout that is ${status} cannot be canceled`)
      return [{ type: 'PayoutCanceled', data: { money, reason } }]
    },

    ReturnPayout(_, state, { now }) {
      const { status, money } = requested(state)
      if (status === 'failed' && wasPaid(state)) return []
      if (state.status !== 'paid') refuseState(`A payout that is ${status} cannot be returned`)
      const ageMs = now.getTime() - Date.parse(state.paidAt)
      if (ageMs > returnableMs) refuseState('A payout can be returned for 90 days')
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

    RecordContradiction({ claim }, state) {
      if (requested(state).contradictions.includes(claim)) return []
      return [{ type: 'PayoutContradicted', data: { claim } }]
    },

    EscalatePayout(_, state) {
      if (state.status !== 'in_transit' || state.escalated) return []
      return [{ type: 'PayoutEscalated', data: {} }]
    },
  },

  evolve: {
    PayoutRequested: (_, details, { merchant, livemode, at }) => {
      const begun = { status: 'pending', delay: null, contradictions: [], escalated: false } as const
      return Object.assign(begun, { merchant, livemode, at }, details)
    },
    PayoutAbandoned: () => ({ status: 'abandoned' }),
    PayoutSent: (state, _, { at }) => moved(state, { status: 'in_transit', sentAt: at }),
    PayoutPaid: (state, _, { at }) => moved(state, { status: 'paid', paidAt: at }),
    PayoutFailed: (state, { failure }) => moved(state, { status: 'failed', failure, paidAt: null }),
    PayoutCanceled: (state) => moved(state, { status: 'canceled' }),
    PayoutReturned: (state) => moved(state, { status: 'failed', failure: returned, paidAt: paidAt(state) }),
    PayoutDelayed: (state, { reason }, { at }) => ({ ...requested(state), delay: { reason, at } }),
    PayoutDelayReasonRevised: (state, { reason }) => ({
      ...requested(state),
      delay: revisedDelay(state, reason),
    }),
    PayoutContradicted: (state, { claim }) => {
      const known = requested(state)
      return { ...known, contradictions: [...known.contradictions, claim] }
    },
    PayoutEscalated: (state) => ({ ...requested(state), escalated: true }),
  },
}

/** The same request decides nothing. Another one with its key has held money that is not this payout's. */
function repeated({ money }: RequestedPayout, { money: asked }: PayoutCommands['RequestPayout']): [] {
  if (money.currency === asked.currency && money.amount === asked.amount) return []
  return refuse('idempotency_key_must_be_for_one_request', {
    detail: `This payout is of ${money.amount} ${money.currency}, not ${asked.amount} ${asked.currency}`,
  })
}

/** Spec, Payout: the payout engine sets two keys. It executes batches and sandbox bank payouts. */
function metadataOf(request: PayoutCommands['RequestPayout'], { livemode }: Context) {
  const { batch, payoutMethod, destination, metadata = {} } = request
  const isInlineBank = destination.type === 'bank' && !payoutMethod
  if (!batch && (livemode || !isInlineBank)) return metadata
  return { ...metadata, source: 'payout_engine', environment: livemode ? 'live' : 'sandbox' }
}

const returned: Failure = { code: 'returned', message: 'The money came back after it had been paid' }
const notEligible: Failure = {
  code: 'operator_unavailable',
  message: 'The operator takes no such payouts any more',
}

function isStillEligible({ amount, currency }: PayoutMoney, destination: Destination): boolean {
  try {
    admitPayout({ amountMinor: amount, currency }, destination)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

function revisedDelay(state: Payout, reason: DelayReason): Details['delay'] {
  const { delay } = requested(state)
  return delay && { ...delay, reason }
}

type UnderWay = Exclude<RequestedPayout, { status: 'paid' | 'failed' }>

/** Not at its end: it may still become late. */
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

/** What a change of status leaves as it is, and the new status. Spreading costs four times as much. */
function moved<const Status extends object>(state: Payout, status: Status): Details & Status {
  const known = requested(state)
  const { merchant, livemode, money, destination, payoutMethod, batch, metadata } = known
  const { expectedBy, at, delay, contradictions, escalated } = known
  const terms = { merchant, livemode, money, destination, payoutMethod, batch, metadata, expectedBy, at }
  return Object.assign(terms, { delay, contradictions, escalated }, status)
}

function refuseState(detail: string): never {
  return refuse('resource_state_must_allow_it', { detail })
}
