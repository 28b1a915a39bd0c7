import { refuse } from '../../contract/refusals.ts'
import type { Message } from '../../kernel/decider.ts'
import type { PaymentIntentEvents } from './events.ts'
import {
  created,
  refundableMinor,
  sharesOfRefund,
  type CreatedIntent,
  type Payment,
  type PaymentIntent,
} from './state.ts'

/** What is refunded of a payment, or being refunded. */

type Happening = Message<PaymentIntentEvents>

interface Asked {
  readonly refund: string
  readonly amount?: number | undefined
}

export function reserveShare(state: PaymentIntent, { refund, amount }: Asked): readonly Happening[] {
  const { payment, contradictions } = refundable(state)
  if (payment.refunds[refund]) return []
  if (contradictions.some((each) => each.startsWith(payment.operationId))) {
    refuse('payment_must_be_refundable', { detail: 'The provider denies that the payment has come in' })
  }
  const left = refundableMinor(payment)
  if (left === 0) refuse('payment_must_be_refundable', { detail: 'Nothing is left of the payment' })
  if (amount !== undefined && amount > left) {
    refuse('refund_must_not_exceed_the_payment', {
      detail: `${left} is left of the payment, not ${amount}`,
    })
  }
  const taken = amount ?? left
  const data = { refund, amount: taken, shares: sharesOfRefund(payment, taken) }
  return [{ type: 'PaymentIntentRefundReserved', data }]
}

export function releaseShare(state: PaymentIntent, refund: string): readonly Happening[] {
  const share = refundable(state).payment.refunds[refund]
  if (!share || share.done) return []
  return [{ type: 'PaymentIntentRefundReleased', data: { refund } }]
}

export function recordShare(state: PaymentIntent, refund: string): readonly Happening[] {
  const share = refundable(state).payment.refunds[refund]
  if (!share) throw new Error(`refund ${refund} was not reserved`)
  if (share.done) return []
  const data = { refund, amount: share.amount }
  return [{ type: 'PaymentIntentRefunded', data }]
}

export function returnShare(state: PaymentIntent, refund: string): readonly Happening[] {
  if (!refundable(state).payment.refunds[refund]) return []
  return [{ type: 'PaymentIntentRefundReturned', data: { refund } }]
}

/** What each account gives to a reserved refund. */
export function reservedShares(state: PaymentIntent, refund: string): Share['shares'] {
  const share = refundable(state).payment.refunds[refund]
  if (!share) throw new Error(`refund ${refund} was not reserved`)
  return share.shares
}

function refundable(state: PaymentIntent): Extract<CreatedIntent, { status: 'succeeded' }> {
  const intent = created(state)
  if (intent.status === 'succeeded') return intent
  return refuse('payment_must_be_refundable', {
    detail: `An intent that is ${intent.status} has nothing to refund`,
  })
}

type Share = Payment['refunds'][string]

export function withShare(state: PaymentIntent, refund: string, share: Share | undefined): PaymentIntent {
  const intent = refundable(state)
  const { [refund]: _, ...others } = intent.payment.refunds
  const refunds = share ? { ...others, [refund]: share } : others
  return { ...intent, payment: { ...intent.payment, refunds } }
}

/**
 * Reserved refunds have their shares; one that was given up and happened nevertheless takes from what is
 * left.
 */
export function refundedShare(state: PaymentIntent, refund: string, amount: number): PaymentIntent {
  const { payment } = refundable(state)
  const shares = payment.refunds[refund]?.shares ?? sharesOfRefund(payment, amount)
  return withShare(state, refund, { amount, shares, done: true })
}
