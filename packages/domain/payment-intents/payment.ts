import { publicId } from '../../contract/identity.ts'
import { isErased } from '../../contract/payments/holders.ts'
import {
  AmountMinor,
  base,
  CountMinor,
  choice,
  Country,
  Currency,
  literals,
  Metadata,
  nullable,
  record,
  Timestamp,
  Type,
  unixSeconds,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import type { RailMethod } from '../../kernel/ports/rails.ts'
import { purposeTypes, type Purpose } from '../ledger/plans.ts'
import { refundableMinor, refundedMinor, type Payment, type PaymentIntent } from './state.ts'
import { TimelineEntry } from './timeline.ts'

const paymentStatuses = ['succeeded', 'partially_refunded', 'refunded'] as const

export const PaymentStatus = choice(...paymentStatuses)

export const paymentFields = {
  ...base('payment', 'pay'),
  amount: AmountMinor,
  amount_received: AmountMinor,
  currency: Currency,
  status: literals(...paymentStatuses),
  payment_intent: Type.String(),
  payment_method: literals('mobile_money', 'card'),
  operator: nullable(Type.String()),
  country: Country,
  customer: nullable(Type.String()),
  customer_phone: nullable(Type.String({ description: 'Last four digits' })),
  description: nullable(Type.String()),
  metadata: Metadata,
  fee: CountMinor,
  net: CountMinor,
  refunded_amount: CountMinor,
  can_refund: Type.Boolean(),
  succeeded_at: Timestamp,
  purpose: literals(...purposeTypes),
  source: nullable(
    record(
      { object: Type.String(), id: Uuid },
      { description: 'What the payment is for, when it is for something else than itself' },
    ),
  ),
  /** Only where a single payment is shown. */
  timeline: Type.Optional(Type.Array(TimelineEntry)),
}

export const PaymentResource = record(paymentFields)

export type PaymentView = Static<typeof PaymentResource>

/** A payment is an intent that has succeeded, with the same id. */
export function viewPayment(id: string, state: PaymentIntent): PaymentView | undefined {
  if (state.status !== 'succeeded') return undefined
  const { payment } = state
  const method = state.attempts.find(({ operationId }) => operationId === payment.operationId)!.method
  return {
    id: publicId('pay', id),
    object: 'payment',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    amount: state.amount,
    amount_received: payment.amount,
    currency: state.currency,
    status: paymentStatus(payment),
    payment_intent: publicId('pi', id),
    payment_method: method.type,
    operator: method.type === 'mobile_money' ? method.operator : null,
    country: state.transactionCountry,
    customer: state.customer && publicId('cus', state.customer),
    customer_phone: lastDigits(method),
    description: state.description,
    metadata: state.metadata,
    fee: payment.fee,
    net: payment.amount - payment.fee,
    refunded_amount: refundedMinor(payment),
    can_refund: refundableMinor(payment) > 0,
    succeeded_at: payment.succeededAt,
    purpose: state.purpose.type,
    source: sourceOf(state.purpose),
  }
}

function lastDigits(method: RailMethod): string | null {
  if (method.type !== 'mobile_money') return null
  return isErased(method) ? method.msisdn : method.msisdn.slice(-4)
}

/** The purpose's name among our resources. */
const sourceObjects: Readonly<Record<Purpose['type'], string>> = {
  payment: 'payment',
  checkout: 'checkout_session',
  link: 'payment_link',
  invoice: 'invoice',
  topup: 'wallet_topup',
  escrow: 'escrow_contract',
  contribution: 'contribution',
  order: 'order',
}

function sourceOf({ type, id }: Purpose): PaymentView['source'] {
  return id === null ? null : { object: sourceObjects[type], id }
}

export function paymentStatus(payment: Payment): PaymentView['status'] {
  const refunded = refundedMinor(payment)
  if (refunded === 0) return 'succeeded'
  return refunded < payment.amount ? 'partially_refunded' : 'refunded'
}
