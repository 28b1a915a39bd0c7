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
import type { Context, Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
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

const Owner = { merchant: Type.String(), livemode: Type.Boolean() }
/** What an operator may claim when we know better. */
const Claim = literals('paid', 'failed', 'returned')

// Events

export const payoutEvents = {
  PayoutRequested: stored(
    1,
    record({
      ...Owner,
      money: PayoutMoney,
      destination: Destination,
      /** The saved destination that was named. */
      payoutMethod: nullable(Type.String()),
      batch: nullable(Type.String()),
      metadata: Metadata,
      expectedBy: Timestamp,
      at: Timestamp,
    }),
  ),
  /** Money was held for a request that never came to this stream; it never will. */
  PayoutAbandoned: stored(1, record({ ...Owner, currency: Currency, at: Timestamp })),
  PayoutSent: stored(1, record({ money: PayoutMoney, destination: Destination, at: Timestamp })),
  PayoutPaid: stored(1, record({ money: PayoutMoney, at: Timestamp })),
  PayoutFailed: stored(1, record({ money: PayoutMoney, failure: Failure, at: Timestamp })),
  PayoutCanceled: stored(1, record({ money: PayoutMoney, reason: Type.String(), at: Timestamp })),
  PayoutReturned: stored(1, record({ money: PayoutMoney, at: Timestamp })),
  PayoutDelayed: stored(1, record({ reason: DelayReason, at: Timestamp })),
  PayoutDelayReasonRevised: stored(1, record({ reason: DelayReason, at: Timestamp })),
  /** The operator reported what cannot be true any more. Nothing follows from it but a person's question. */
  PayoutContradicted: stored(1, record({ claim: Claim, at: Timestamp })),
  /** Nobody has learned the outcome in three days: a case for the support. */
  PayoutEscalated: stored(1, record({ at: Timestamp })),
}

export type PayoutEvents = EventsOf<typeof payoutEvents>

// State

interface Details extends Readonly<PayoutEvents['PayoutRequested']> {
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
    RequestPayout(request, { status }, context) {
      if (status === 'abandoned') refuseState('The request took too long and its money has been given back')
      if (status !== 'none') return []
      const { money, destination, payoutMethod = null, batch = null } = request
      admitPayout({ currency: money.currency, amountMinor: money.amount }, destination)
      const { merchant, livemode, now } = context
      const metadata = metadataOf(request, context)
      const times = { expectedBy: expectedBy(destination, context), at: now.toISOString() }
      const data = { merchant, livemode, money, destination, payoutMethod, batch, metadata, ...times }
      return [{ type: 'PayoutRequested', data }]
    },

    AbandonPayout({ currency }, { status }, { merchant, livemode, now }) {
      if (status !== 'none') return []
      return [{ type: 'PayoutAbandoned', data: { merchant, livemode, currency, at: now.toISOString() } }]
    },

    SendPayout(_, state, { now }) {
      const { status, money, destination } = requested(state)
      if (status !== 'pending') return []
      const at = now.toISOString()
      const isEligible = isStillEligible(money, destination)
      if (!isEligible) return [{ type: 'PayoutFailed', data: { money, failure: notEligible, at } }]
      return [{ type: 'PayoutSent', data: { money, destination, at } }]
    },

    SettlePayout(_, state, { now }) {
      const { status, money } = requested(state)
      if (wasPaid(state)) return []
      if (status !== 'in_transit') refuseState(`A payout that is ${status} cannot be paid`)
      return [{ type: 'PayoutPaid', data: { money, at: now.toISOString() } }]
    },

    FailPayout({ failure }, state, { now }) {
      const { status, money } = requested(state)
      if (status === 'failed') return []
      if (!isUnderWay(state)) refuseState(`A payout that is ${status} cannot fail`)
      return [{ type: 'PayoutFailed', data: { money, failure, at: now.toISOString() } }]
    },

    CancelPayout({ reason }, state, { now }) {
      const { status, money } = requested(state)
      if (status === 'canceled') return []
      if (status !== 'pending') refuseState(`A payout that is ${status} cannot be canceled`)
      return [{ type: 'PayoutCanceled', data: { money, reason, at: now.toISOString() } }]
    },

    ReturnPayout(_, state, { now }) {
      const { status, money } = requested(state)
      if (status === 'failed' && wasPaid(state)) return []
      if (state.status !== 'paid') refuseState(`A payout that is ${status} cannot be returned`)
      const ageMs = now.getTime() - Date.parse(state.paidAt)
      if (ageMs > returnableMs) refuseState('A payout can be returned for 90 days')
      return [{ type: 'PayoutReturned', data: { money, at: now.toISOString() } }]
    },

    MarkDelayed({ reason }, state, { now }) {
      if (!isUnderWay(state) || state.delay || now.getTime() < Date.parse(state.expectedBy)) return []
      return [{ type: 'PayoutDelayed', data: { reason, at: now.toISOString() } }]
    },

    ReviseDelayReason({ reason }, state, { now }) {
      if (!isUnderWay(state) || !state.delay || state.delay.reason === reason) return []
      return [{ type: 'PayoutDelayReasonRevised', data: { reason, at: now.toISOString() } }]
    },

    RecordContradiction({ claim }, state, { now }) {
      if (requested(state).contradictions.includes(claim)) return []
      return [{ type: 'PayoutContradicted', data: { claim, at: now.toISOString() } }]
    },

    EscalatePayout(_, state, { now }) {
      if (state.status !== 'in_transit' || state.escalated) return []
      return [{ type: 'PayoutEscalated', data: { at: now.toISOString() } }]
    },
  },

  evolve: {
    PayoutRequested: (_, details) => {
      const begun = { status: 'pending', delay: null, contradictions: [], escalated: false } as const
      return Object.assign(begun, details)
    },
    PayoutAbandoned: () => ({ status: 'abandoned' }),
    PayoutSent: (state, { at }) => moved(state, { status: 'in_transit', sentAt: at }),
    PayoutPaid: (state, { at }) => moved(state, { status: 'paid', paidAt: at }),
    PayoutFailed: (state, { failure }) => moved(state, { status: 'failed', failure, paidAt: null }),
    PayoutCanceled: (state) => moved(state, { status: 'canceled' }),
    PayoutReturned: (state) => moved(state, { status: 'failed', failure: returned, paidAt: paidAt(state) }),
    PayoutDelayed: (state, { reason, at }) => ({ ...requested(state), delay: { reason, at } }),
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
