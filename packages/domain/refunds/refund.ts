import { refuse } from '../../contract/refusals.ts'
import { AmountMinor, Currency, literals, nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import { Recorded, refundRemedy, Remedy, Word } from './contradictions.ts'
import type { Decider, Message } from '../../kernel/decider.ts'
import { sealedFor, stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import type { RailMethod } from '../../kernel/rail-ports.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'
import { merchantAvailable } from '../ledger/accounts.ts'
import { Share } from '../ledger/plans.ts'
import { personal } from '../../kernel/personal.ts'
import { holderOf } from '../../contract/subjects.ts'

/** Spec, merchant routes. */
export const refundReasons = ['duplicate', 'fraudulent', 'requested_by_customer'] as const

const Method = Type.Union([
  record({
    type: literals('mobile_money'),
    country: Type.String(),
    operator: Type.String(),
    msisdn: personal(Type.String()),
  }),
  record({ type: literals('card'), token: Type.String() }),
])

/**
 * What book and payment need to know at each end. It is the same in every event, because a policy sees
 * nothing else.
 */
const money = { paymentIntent: Uuid, amount: AmountMinor, currency: Currency, rail: Type.String() }

/**
 * What each account gives, and gets back if it is returned: the accounts that the payment was credited to.
 */
const shares = Type.Array(Share)

// Events

export const refundEvents = {
  /** `rail` is the account that the payment came in by, `method` where the money goes back to. */
  RefundRequested: sealedFor(
    ({ method }) => holderOf(method),
    stored(3, record({ ...money, shares, reason: nullable(literals(...refundReasons)), method: Method }), {
      1: withoutStamp,
      2: fromAvailable,
    }),
  ),
  RefundSucceeded: stored(2, record(money), { 1: withoutStamp }),
  RefundFailed: stored(2, record({ ...money, code: Type.String(), message: Type.String() }), {
    1: withoutStamp,
  }),
  /** Inferred: the request died after it had reserved the amount. It will never reach this stream. */
  RefundAbandoned: stored(2, record({ paymentIntent: nullable(Uuid) }), { 1: withoutStamp }),
  /** The provider contradicts the record. */
  RefundResultContradicted: stored(1, record({ ...money, recorded: Recorded, word: Word, remedy: Remedy })),
  /** It had succeeded, and the money came back. */
  RefundReturned: stored(2, record({ ...money, shares, message: Type.String() }), { 1: fromAvailable }),
  /** It had failed, and the payer has the money after all: it is to be counted and charged. */
  RefundChargeRequested: stored(1, record({ ...money, attempt: Type.Integer({ minimum: 1 }) })),
  /** Too little is left of the payment, or of the balance. `reason` is for people. */
  RefundChargeRefused: stored(1, record({ ...money, reason: Type.String() })),
  /** It counts among what the payment has given back. */
  RefundPaidLate: stored(1, record(money)),
  /** Inferred: nobody has learned the outcome within three days: a case for support. */
  RefundEscalated: stored(2, record({}), { 1: withoutStamp }),
}

/** Before shares existed, every refund was paid from the merchant's balance. */
function fromAvailable(older: Record<string, never>): object {
  return { ...older, shares: [{ account: merchantAvailable, amount: older['amount'] }] }
}

export type RefundEvents = EventsOf<typeof refundEvents>

// State

interface Details extends MerchantOwner, Readonly<RefundEvents['RefundRequested']> {
  readonly createdAt: string
  readonly escalated: boolean
  /** Contradictions already recorded. */
  readonly contradictions: readonly Word[]
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
  /** The payer has it after all: the newest attempt to charge it. */
  readonly charge?: { readonly attempt: number; readonly isOpen: boolean }
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
      if (state.status === 'abandoned') {
        refuse('resource_state_must_allow_it', {
          detail: 'This request was given up; ask again with another idempotency key',
        })
      }
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
      const remedy = isConfirmed && contradictions.length === 0 ? rule : 'case'
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
    RefundSucceeded: (state) => ({ ...requested(state), status: 'succeeded' }),
    RefundFailed: (state, { code, message }) => ({
      ...requested(state),
      status: 'failed',
      failure: { code, message },
    }),
    RefundAbandoned: () => ({ status: 'abandoned' }),
    RefundEscalated: (state) => ({ ...requested(state), escalated: true }),
    RefundResultContradicted: (state, { word }) => {
      const known = requested(state)
      return { ...known, contradictions: [...known.contradictions, word] }
    },
    RefundReturned: (state, { message }) => ({
      ...requested(state),
      status: 'failed',
      failure: { code: 'returned', message },
    }),
    RefundChargeRequested: (state, { attempt }) => withCharge(state, { attempt, isOpen: true }),
    RefundChargeRefused: (state) => withCharge(state, { attempt: attemptsOf(state), isOpen: false }),
    RefundPaidLate: (state) => {
      const { failure: _, charge: __, ...known } = failed(state)
      return { ...known, status: 'succeeded' }
    },
  },
}

function isCharging(state: Refund): boolean {
  return state.status === 'failed' && state.charge?.isOpen === true
}

function attemptsOf(state: Refund): number {
  return state.status === 'failed' ? (state.charge?.attempt ?? 0) : 0
}

function charged(intended: RequestedRefund): readonly Message<Pick<RefundEvents, 'RefundChargeRequested'>>[] {
  if (isCharging(intended)) return []
  const data = { ...moneyOf(intended), attempt: attemptsOf(intended) + 1 }
  return [{ type: 'RefundChargeRequested', data }]
}

function withCharge(state: Refund, charge: NonNullable<Failed['charge']>): RequestedRefund {
  return { ...failed(state), charge }
}

function failed(state: Refund): Details & Failed {
  const known = requested(state)
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
    detail: `This refund is of ${known.amount} ${known.currency}, or of another payment`,
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
