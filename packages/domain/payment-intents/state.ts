import { begun } from '../../contract/existing.ts'
import { derivedId } from '../../contract/identity.ts'
import { refuse } from '../../contract/refusals.ts'
import { refundableShares, refundShares, type Share } from '../ledger/plans.ts'
import type { PaymentFailureCode, PaymentIntentEvents } from './events.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'

/** One confirmation: at most one call to a provider, with the operation's id as reference. */
export type Attempt = PaymentIntentEvents['PaymentIntentConfirmationStarted'] & {
  readonly startedAt: string
  readonly aborted: boolean
}

type Terms = PaymentIntentEvents['PaymentIntentCreated'] & MerchantOwner

interface Details extends Terms {
  readonly createdAt: string
  /** The last one is current. Aborted ones are kept, because their money may still arrive. */
  readonly attempts: readonly Attempt[]
  /** Operations whose money arrived after the intent ended; it is returned. */
  readonly late: readonly string[]
  /** What came of returning late money, by reference. Those of one operation follow from its id, in order. */
  readonly lateRefunds: Readonly<Record<string, LateRefundStatus>>
  /** How often late money went back, by operation: more than once where it came back in between. */
  readonly lateRefundsBooked: Readonly<Record<string, number>>
  /** Statements about late refunds that nobody has confirmed: `<reference> <result>`. */
  readonly lateRefundDoubts: readonly string[]
  /** Contradictions already recorded: `<operation> <record> <result>`. */
  readonly contradictions: readonly string[]
  /** By refund, the newest attempt to charge it late that was refused. */
  readonly chargesRefused?: Readonly<Record<string, number>>
}

export type LateRefundStatus = 'requested' | 'succeeded' | 'failed'

/** A refund in progress or done; failed ones are removed. */
export interface RefundShare {
  readonly amount: number
  /** What each account gives. */
  readonly shares: readonly Share[]
  readonly done: boolean
}

export interface Payment {
  readonly operationId: string
  readonly amount: number
  readonly fee: number
  readonly rail: string
  readonly succeededAt: string
  readonly availableOn: string
  readonly credits: readonly Share[]
  readonly refunds: Readonly<Record<string, RefundShare>>
  /** Refunds that were given up or came back. */
  readonly ended?: readonly string[]
}

interface Failure {
  readonly code: PaymentFailureCode
  readonly message: string
}

export type CreatedIntent = Details &
  /** Locked: the call to a provider is running, or its result is not known yet. */
  (
    | { readonly status: 'requires_payment_method'; readonly locked: boolean }
    | { readonly status: 'processing'; readonly expiresAt: string }
    | { readonly status: 'requires_action'; readonly expiresAt: string; readonly url: string }
    | { readonly status: 'succeeded'; readonly payment: Payment }
    | { readonly status: 'failed'; readonly failure: Failure }
    /** Open: it may still have been paid a moment earlier. */
    | { readonly status: 'canceled'; readonly canceledAt: string; readonly open: boolean }
  )

export type PaymentIntent = { readonly status: 'none' } | CreatedIntent

export function created(state: PaymentIntent): CreatedIntent {
  if (state.status === 'none') refuse('resource_must_exist')
  return state
}

/** What the merchant specified when creating the intent. */
function terms(intent: Terms): Terms {
  return {
    merchant: intent.merchant,
    livemode: intent.livemode,
    amount: intent.amount,
    currency: intent.currency,
    transactionCountry: intent.transactionCountry,
    payerCountry: intent.payerCountry,
    railCountry: intent.railCountry,
    description: intent.description,
    metadata: intent.metadata,
    customer: intent.customer,
    purpose: intent.purpose,
    plan: intent.plan,
  }
}

// States are built with `Object.assign` onto a literal: V8 takes ten times as long to spread one object into
// another.

export function newIntent(intent: Terms, createdAt: string): CreatedIntent {
  const lateYet = { late: [], lateRefunds: {}, lateRefundsBooked: {}, lateRefundDoubts: [] }
  const nothingYet = { attempts: [], ...lateYet, contradictions: [] }
  const status = { status: 'requires_payment_method', locked: false } as const
  return Object.assign(terms(intent), { createdAt }, nothingYet, status)
}

/** The intent with another status, without fields that belonged to the last one. */
export function withStatus<const Status extends object>(state: PaymentIntent, status: Status) {
  const intent = begun(state)
  const { createdAt, attempts, contradictions } = intent
  const { late, lateRefunds, lateRefundsBooked, lateRefundDoubts } = intent
  const history = {
    createdAt,
    attempts,
    late,
    lateRefunds,
    lateRefundsBooked,
    lateRefundDoubts,
    contradictions,
  }
  return Object.assign(terms(intent), history, status)
}

/** The intent is still waiting for the result of this operation. */
export function isAwaiting(intent: CreatedIntent, operationId: string): boolean {
  if (intent.attempts.at(-1)?.operationId !== operationId) return false
  const { status } = intent
  return status === 'processing' || status === 'requires_action' || isLocked(intent)
}

export function isLocked(intent: CreatedIntent): boolean {
  return intent.status === 'requires_payment_method' && intent.locked
}

/**
 * Why money that the payer has paid does not count: it came when the intent had ended, and is sent back, or
 * the operator has taken it back. Only what had succeeded is contradicted before it is late.
 */
export function reversalOf(intent: CreatedIntent): 'paid_too_late' | 'taken_back' | null {
  const { status, late, contradictions } = intent
  const wasPaid = contradictions.some((each) => !late.includes(each.split(' ')[0]!))
  if (status === 'failed' && wasPaid) return 'taken_back'
  return status !== 'succeeded' && late.length > 0 ? 'paid_too_late' : null
}

export function attemptOf(intent: CreatedIntent, operationId: string): Attempt {
  const attempt = intent.attempts.find((each) => each.operationId === operationId)
  if (!attempt) throw new Error(`the intent has no operation ${operationId}`)
  return attempt
}

/** The reference for returning an operation's late payment; a refusal ends it, and the next is new. */
export function lateRefundIdOf(operationId: string, earlier = 0): string {
  return derivedId(operationId, earlier === 0 ? 'late refund' : `late refund ${earlier + 1}`)
}

/** Neither refunded nor being refunded. */
export function refundableMinor({ amount, refunds }: Payment): number {
  return amount - total(Object.values(refunds))
}

/** Which accounts give how much back: those that the payment was credited to. */
export function sharesOfRefund({ amount, credits, refunds }: Payment, refunded: number): Share[] {
  const given = Object.values(refunds).flatMap(({ shares }) => shares)
  const left = refundableShares(credits, amount).map((share) => {
    const earlier = given.filter(({ account }) => account === share.account)
    return { ...share, amount: share.amount - total(earlier) }
  })
  return refundShares(left, refunded)
}

export function refundedMinor({ refunds }: Payment): number {
  return total(Object.values(refunds).filter(({ done }) => done))
}

function total(shares: readonly { readonly amount: number }[]): number {
  return shares.reduce((sum, { amount }) => sum + amount, 0)
}
