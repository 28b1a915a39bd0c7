import { begun } from '../../contract/existing.ts'
import { spelledAmount } from '../../contract/locale/money-text.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Decider, Message } from '../../kernel/decider.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'
import type { RailMethod } from '../../kernel/ports/rails.ts'
import type { Share } from '../ledger/plans.ts'
import { refundRemedy, type Word } from './contradictions.ts'
import { refundEvents, type RefundEvents, type refundReasons } from './events.ts'

// State

interface Details extends MerchantOwner, Readonly<RefundEvents['RefundRequested']> {
  readonly createdAt: string
  readonly escalated: boolean
  /** Contradictions already recorded. */
  readonly contradictions: readonly Word[]
  /** The payer had it after all: the newest attempt to charge it. Each attempt has a number of its own. */
  readonly charge?: { readonly attempt: number; readonly status: 'open' | 'refused' | 'done' }
}

interface Failure {
  readonly code: string
  readonly message: string
}

export type Refund =
  | { readonly status: 'none' }
  | { readonly status: 'abandoned' }
  | (Details & { readonly status: 'pending' | 'succeeded' })
  | (Details & Failed)

interface Failed {
  readonly status: 'failed'
  readonly failure: Failure
}

export type RequestedRefund = Exclude<Refund, { status: 'none' | 'abandoned' }>

// Decisions

export type RefundCommands = {
  RequestRefund: {
    paymentIntent: string
    amount: number
    currency: string
    rail: string
    shares: Share[]
    reason: (typeof refundReasons)[number] | null
    method: Exclude<RailMethod, { type: 'bank' }>
  }
  /** `paymentIntent` is where the amount was reserved; null where only its hold is known. */
  AbandonRefund: { paymentIntent: string | null }
  SettleRefund: object
  FailRefund: { code: string; message: string }
  EscalateRefund: object
  /** Confirmed: the provider repeats it when asked. */
  ContradictRefund: { word: Word; isConfirmed: boolean }
  /** A person says that a refund that has failed here was paid. */
  ChargeRefund: object
  /** Counted: only the balance does not cover it. */
  RefuseCharge: { reason: string; isCounted: boolean }
  SettleLateRefund: object
}

export const refund: Decider<Refund, RefundCommands, RefundEvents> = {
  category: 'refund',
  perOperation: true,
  events: refundEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    RequestRefund(request, state) {
      if (state.status === 'abandoned') refuse('refund_must_not_be_abandoned')
      if ('amount' in state) return repeated(state, request)
      return [{ type: 'RefundRequested', data: request }]
    },

    AbandonRefund({ paymentIntent }, { status }) {
      if (status !== 'none') return []
      return [{ type: 'RefundAbandoned', data: { paymentIntent } }]
    },

    SettleRefund(_, state) {
      const intended = requested(state)
      if (intended.status !== 'pending') return []
      return [{ type: 'RefundSucceeded', data: moneyOf(intended) }]
    },

    FailRefund({ code, message }, state) {
      const intended = requested(state)
      if (intended.status !== 'pending') return []
      return [{ type: 'RefundFailed', data: { ...moneyOf(intended), code, message } }]
    },

    EscalateRefund(_, state) {
      const { status, escalated } = requested(state)
      if (status !== 'pending' || escalated) return []
      return [{ type: 'RefundEscalated', data: {} }]
    },

    ContradictRefund({ word, isConfirmed }, state) {
      const intended = requested(state)
      const { status: recorded, contradictions } = intended
      const rule = recorded === 'pending' ? undefined : refundRemedy(recorded, word)
      if (recorded === 'pending' || !rule || contradictions.includes(word)) return []
      // A provider that has corrected itself once is not believed a second time.
      const isClear = isConfirmed && contradictions.length === 0 && !wasNotCharged(intended)
      const remedy = isClear ? rule : 'case'
      const money = moneyOf(intended)
      const contradicted = {
        type: 'RefundResultContradicted',
        data: { ...money, recorded, word, remedy },
      } as const
      if (remedy === 'case') return [contradicted]
      if (remedy === 'charge') return [contradicted, ...charged(intended)]
      return [
        contradicted,
        { type: 'RefundReturned', data: { ...money, shares: intended.shares, message: cameBack } },
      ]
    },

    ChargeRefund(_, state) {
      const intended = requested(state)
      return intended.status === 'failed' ? charged(intended) : []
    },

    RefuseCharge({ reason, isCounted }, state) {
      const intended = requested(state)
      if (!isCharging(state)) return []
      const money = moneyOf(intended)
      const refused = { type: 'RefundChargeRefused', data: { ...money, reason } } as const
      return isCounted ? [refused, { type: 'RefundPaidLate', data: money }] : [refused]
    },

    SettleLateRefund(_, state) {
      const intended = requested(state)
      return intended.status === 'failed' ? [{ type: 'RefundPaidLate', data: moneyOf(intended) }] : []
    },
  },

  evolve: {
    RefundRequested: (_, request, { merchant, livemode, at }) => ({
      ...request,
      merchant,
      livemode,
      createdAt: at,
      escalated: false,
      contradictions: [],
      status: 'pending',
    }),
    RefundSucceeded: (state) => ({ ...begun(state), status: 'succeeded' }),
    RefundFailed: (state, { code, message }) => ({
      ...begun(state),
      status: 'failed',
      failure: { code, message },
    }),
    RefundAbandoned: () => ({ status: 'abandoned' }),
    RefundEscalated: (state) => ({ ...begun(state), escalated: true }),
    RefundResultContradicted: (state, { word }) => {
      const known = begun(state)
      return { ...known, contradictions: [...known.contradictions, word] }
    },
    RefundReturned: (state, { message }) => ({
      ...begun(state),
      status: 'failed',
      failure: { code: 'returned', message },
    }),
    RefundChargeRequested: (state, { attempt }) => withCharge(state, { attempt, status: 'open' }),
    RefundChargeRefused: (state) => {
      return withCharge(state, { attempt: attemptsOf(begun(state)), status: 'refused' })
    },
    RefundPaidLate: (state) => {
      const { failure: _, ...known } = failed(state)
      return { ...known, charge: afterCharge(known), status: 'succeeded' }
    },
  },
}

function isCharging(state: Refund): boolean {
  return state.status === 'failed' && state.charge?.status === 'open'
}

type Charge = NonNullable<Details['charge']>

function afterCharge({ charge }: Pick<Details, 'charge'>): Charge {
  const { attempt, status } = charge ?? { attempt: 0, status: 'done' }
  return { attempt, status: status === 'refused' ? status : 'done' }
}

/** It counts as paid back, but the balance did not cover it: there is nothing to give back. */
function wasNotCharged({ status, charge }: RequestedRefund): boolean {
  return status === 'succeeded' && charge?.status === 'refused'
}

function attemptsOf({ charge }: Pick<Details, 'charge'>): number {
  return charge?.attempt ?? 0
}

function charged(intended: RequestedRefund): readonly Message<Pick<RefundEvents, 'RefundChargeRequested'>>[] {
  if (isCharging(intended)) return []
  const data = { ...moneyOf(intended), attempt: attemptsOf(intended) + 1 }
  return [{ type: 'RefundChargeRequested', data }]
}

function withCharge(state: Refund, charge: Charge): RequestedRefund {
  return { ...failed(state), charge }
}

function failed(state: Refund): Details & Failed {
  const known = begun(state)
  if (known.status !== 'failed') throw new Error(`a refund that is ${known.status} is not charged late`)
  return known
}

/** Whether it takes its money from this payment. */
export function refunds(state: Refund, paymentIntent: string): boolean {
  return 'paymentIntent' in state && state.paymentIntent === paymentIntent
}

/**
 * A repeated request decides nothing. Another request with its key has reserved money that is not this
 * refund's.
 */
function repeated(known: RequestedRefund, asked: RefundCommands['RequestRefund']): [] {
  const isSame = known.paymentIntent === asked.paymentIntent && known.amount === asked.amount
  if (isSame && known.currency === asked.currency) return []
  return refuse('idempotency_key_must_be_for_one_request', {
    detail: `This refund is of ${spelledAmount(known.amount)} ${known.currency}, or of another payment`,
  })
}

const cameBack = 'The money came back from the payer'

export function requested(state: Refund): RequestedRefund {
  if (state.status === 'none' || state.status === 'abandoned') refuse('resource_must_exist')
  return state
}

function moneyOf({ paymentIntent, amount, currency, rail }: RequestedRefund) {
  return { paymentIntent, amount, currency, rail }
}
