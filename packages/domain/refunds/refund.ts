import { refuse } from '../../contract/refusals.ts'
import {
  AmountMinor,
  Currency,
  literals,
  nullable,
  record,
  Timestamp,
  Type,
  Uuid,
} from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { RailMethod } from '../../kernel/rail-ports.ts'

/** Spec, merchant routes. */
export const refundReasons = ['duplicate', 'fraudulent', 'requested_by_customer'] as const

const Method = Type.Union([
  record({
    type: literals('mobile_money'),
    country: Type.String(),
    operator: Type.String(),
    msisdn: Type.String(),
  }),
  record({ type: literals('card'), token: Type.String() }),
])

const owner = { merchant: Type.String(), livemode: Type.Boolean(), at: Timestamp }
/**
 * What the book and the payment need to know at each end. It is the same in every event, because a policy
 * sees nothing else.
 */
const money = { paymentIntent: Uuid, amount: AmountMinor, currency: Currency, rail: Type.String() }

// Events

export const refundEvents = {
  /** `rail` is the account by which the payment came in, `method` where the money goes back to. */
  RefundRequested: stored(
    1,
    record({ ...owner, ...money, reason: nullable(literals(...refundReasons)), method: Method }),
  ),
  RefundSucceeded: stored(1, record({ at: Timestamp, ...money })),
  RefundFailed: stored(1, record({ at: Timestamp, ...money, code: Type.String(), message: Type.String() })),
  /** Inferred: the request died after it had reserved the amount. It never comes to this stream any more. */
  RefundAbandoned: stored(1, record({ ...owner, paymentIntent: Uuid })),
  /** Inferred: nobody has learned the outcome in three days: a case for the support. */
  RefundEscalated: stored(1, record({ at: Timestamp })),
}

export type RefundEvents = EventsOf<typeof refundEvents>

// State

interface Details extends Omit<RefundEvents['RefundRequested'], 'at'> {
  readonly createdAt: string
  readonly escalated: boolean
}

interface Failure {
  readonly code: string
  readonly message: string
}

export type Refund =
  | { readonly status: 'none' }
  | { readonly status: 'abandoned' }
  | (Details & { readonly status: 'pending' | 'succeeded' })
  | (Details & { readonly status: 'failed'; readonly failure: Failure })

export type RequestedRefund = Exclude<Refund, { status: 'none' | 'abandoned' }>

// Decisions

export type RefundCommands = {
  RequestRefund: {
    paymentIntent: string
    amount: number
    currency: string
    rail: string
    reason: (typeof refundReasons)[number] | null
    method: Exclude<RailMethod, { type: 'bank' }>
  }
  AbandonRefund: { paymentIntent: string }
  SettleRefund: object
  FailRefund: { code: string; message: string }
  EscalateRefund: object
}

export const refund: Decider<Refund, RefundCommands, RefundEvents> = {
  category: 'refund',
  events: refundEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    RequestRefund(request, { status }, { merchant, livemode, now }) {
      if (status === 'abandoned') {
        refuse('resource_state_must_allow_it', {
          detail: 'This request was given up; ask again with another idempotency key',
        })
      }
      if (status !== 'none') return []
      return [{ type: 'RefundRequested', data: { merchant, livemode, at: now.toISOString(), ...request } }]
    },

    AbandonRefund({ paymentIntent }, { status }, { merchant, livemode, now }) {
      if (status !== 'none') return []
      return [{ type: 'RefundAbandoned', data: { merchant, livemode, at: now.toISOString(), paymentIntent } }]
    },

    SettleRefund(_, state, { now }) {
      const intended = requested(state)
      if (intended.status !== 'pending') return []
      return [{ type: 'RefundSucceeded', data: { at: now.toISOString(), ...moneyOf(intended) } }]
    },

    FailRefund({ code, message }, state, { now }) {
      const intended = requested(state)
      if (intended.status !== 'pending') return []
      return [{ type: 'RefundFailed', data: { at: now.toISOString(), ...moneyOf(intended), code, message } }]
    },

    EscalateRefund(_, state, { now }) {
      const { status, escalated } = requested(state)
      if (status !== 'pending' || escalated) return []
      return [{ type: 'RefundEscalated', data: { at: now.toISOString() } }]
    },
  },

  evolve: {
    RefundRequested: (_, { at, ...request }) => ({
      ...request,
      createdAt: at,
      escalated: false,
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
  },
}

export function requested(state: Refund): RequestedRefund {
  if (state.status === 'none' || state.status === 'abandoned') refuse('resource_must_exist')
  return state
}

function moneyOf({ paymentIntent, amount, currency, rail }: RequestedRefund) {
  return { paymentIntent, amount, currency, rail }
}
