import { publicId } from '../../contract/identity.ts'
import {
  AmountMinor,
  base,
  choice,
  literals,
  LowerCurrency,
  maybe,
  nullable,
  record,
  Type,
  unixSeconds,
  type Static,
} from '../../contract/vocabulary.ts'
import { refundReasons } from './events.ts'
import type { Refund } from './refund.ts'

/** Default: everything that is left of the payment. */
export const RefundRequest = record({ amount: maybe(AmountMinor), reason: maybe(choice(...refundReasons)) })

export const RefundResource = record({
  ...base('refund', 're'),
  amount: AmountMinor,
  currency: LowerCurrency,
  payment_intent: Type.String(),
  payment: Type.String(),
  status: literals('pending', 'succeeded', 'failed'),
  reason: nullable(literals(...refundReasons)),
  failure_code: nullable(Type.String()),
  source: Type.Null({ description: 'What the payment was for, when it was for something else than itself' }),
})

export type RefundView = Static<typeof RefundResource>

export function viewRefund(id: string, state: Refund): RefundView | undefined {
  if (state.status === 'none' || state.status === 'abandoned') return undefined
  const { status, livemode, createdAt, amount, currency, paymentIntent, reason } = state
  return {
    id: publicId('re', id),
    object: 'refund',
    livemode,
    created: unixSeconds(createdAt),
    amount,
    currency: currency.toLowerCase(),
    payment_intent: publicId('pi', paymentIntent),
    payment: publicId('pay', paymentIntent),
    status,
    reason,
    failure_code: state.status === 'failed' ? state.failure.code : null,
    source: null,
  }
}
