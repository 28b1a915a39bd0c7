import { begun } from '../../contract/existing.ts'
import { spelledAmount } from '../../contract/locale/money-text.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
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
  const intent = refundable(state)
  const { payment } = intent
  if (payment.refunds[refund]) return []
  const refusal = refusalOf(intent, amount)
  if (refusal) throw refusal
  const taken = amount ?? refundableMinor(payment)
  const data = { refund, amount: taken, shares: sharesOfRefund(payment, taken) }
  return [{ type: 'PaymentIntentRefundReserved', data }]
}

function refusalOf({ payment, contradictions }: PaidIntent, amount?: number): Refusal | undefined {
  const refused = (detail: string) => new Refusal('payment_must_be_refundable', { detail })
  if (contradictions.some((each) => each.startsWith(payment.operationId)))
    return refused('The provider denies that the payment has come in')
  const left = refundableMinor(payment)
  if (left === 0) return refused('Nothing is left of the payment')
  if (amount === undefined || amount <= left) return undefined
  const detail = `${spelledAmount(left)} is left of the payment, not ${spelledAmount(amount)}`
  return new Refusal('refund_must_not_exceed_the_payment', { detail })
}

interface Charge {
  readonly refund: string
  readonly amount: number
  readonly attempt: number
}

/** A refund that had failed was paid after all: it is counted, or an event says why it cannot be. */
export function chargeShare(state: PaymentIntent, charge: Charge): readonly Happening[] {
  const { refund, amount, attempt } = charge
  const intent = created(state)
  if (attempt <= (intent.chargesRefused?.[refund] ?? 0)) return []
  if (intent.status !== 'succeeded')
    return [chargeRefused(charge, `An intent that is ${intent.status} has nothing to refund`)]
  const { payment, currency } = intent
  const reserved = payment.refunds[refund]
  if (reserved?.done) return []
  const refusal = reserved ? undefined : refusalOf(intent, amount)
  if (refusal) return [chargeRefused(charge, refusal.message)]
  const shares = [...(reserved?.shares ?? sharesOfRefund(payment, amount))]
  const data = { refund, attempt, amount, currency, rail: payment.rail, shares }
  return [{ type: 'PaymentIntentRefundCharged', data }]
}

function chargeRefused({ refund, attempt }: Charge, reason: string): Happening {
  return { type: 'PaymentIntentRefundChargeRefused', data: { refund, attempt, reason } }
}

export function releaseShare(state: PaymentIntent, refund: string): readonly Happening[] {
  const share = refundable(state).payment.refunds[refund]
  if (!share || share.done) return []
  return [{ type: 'PaymentIntentRefundReleased', data: { refund } }]
}

export function recordShare(state: PaymentIntent, refund: string): readonly Happening[] {
  const { refunds, ended = [] } = refundable(state).payment
  const share = refunds[refund]
  if (share?.done || (!share && ended.includes(refund))) return []
  if (!share) throw new Error(`refund ${refund} was not reserved`)
  return [{ type: 'PaymentIntentRefunded', data: { refund, amount: share.amount } }]
}

export function returnShare(state: PaymentIntent, refund: string): readonly Happening[] {
  if (!refundable(state).payment.refunds[refund]) return []
  return [{ type: 'PaymentIntentRefundReturned', data: { refund } }]
}

type PaidIntent = Extract<CreatedIntent, { status: 'succeeded' }>

function refundable(state: PaymentIntent): PaidIntent {
  const intent = created(state)
  if (intent.status === 'succeeded') return intent
  return refuse('payment_must_be_refundable', {
    detail: `An intent that is ${intent.status} has nothing to refund`,
  })
}

/** The same for folding: only what was paid has refunds. */
function paid(state: PaymentIntent): PaidIntent {
  const intent = begun(state)
  if (intent.status === 'succeeded') return intent
  throw new Error(`an intent that is ${intent.status} has no refunds`)
}

type Share = Payment['refunds'][string]

export function withShare(state: PaymentIntent, refund: string, share: Share): PaymentIntent {
  const intent = paid(state)
  const refunds = { ...intent.payment.refunds, [refund]: share }
  return { ...intent, payment: { ...intent.payment, refunds } }
}

/** Nothing of the payment is reserved for it any more. */
export function withoutShare(state: PaymentIntent, refund: string): PaymentIntent {
  const { payment } = paid(state)
  const { [refund]: _, ...refunds } = payment.refunds
  const ended = [...(payment.ended ?? []).filter((id) => id !== refund), refund]
  return { ...paid(state), payment: { ...payment, refunds, ended } }
}

export function withChargeRefused(
  state: PaymentIntent,
  { refund, attempt }: Pick<Charge, 'refund' | 'attempt'>,
): PaymentIntent {
  const intent = begun(state)
  return { ...intent, chargesRefused: { ...intent.chargesRefused, [refund]: attempt } }
}

/**
 * Reserved refunds have their shares; one that was given up and happened nevertheless takes from what is
 * left.
 */
export function refundedShare(state: PaymentIntent, refund: string, amount: number): PaymentIntent {
  const { payment } = paid(state)
  const shares = payment.refunds[refund]?.shares ?? sharesOfRefund(payment, amount)
  return withShare(state, refund, { amount, shares, done: true })
}
