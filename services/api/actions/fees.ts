import { admitQuote } from '../../../packages/contract/payments/eligibility.ts'
import { quoteFee, type FeeDetail } from '../../../packages/contract/payments/fees.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import {
  AmountMinor,
  choice,
  CountMinor,
  Currency,
  KnownCountry,
  literals,
  maybe,
  nullable,
  record,
  SignedMinor,
  Timestamp,
  Type,
  type Static,
} from '../../../packages/contract/vocabulary.ts'

const operations = ['payment', 'payout', 'wallet_apply', 'escrow_release', 'campaign_withdrawal'] as const
const feeModes = ['merchant_pays', 'customer_pays'] as const
const methodTypes = ['mobile_money', 'card', 'bank'] as const

export const FeeQuoteRequest = record({
  operation: maybe(choice(...operations)),
  amount: AmountMinor,
  currency: Currency,
  country: maybe(KnownCountry),
  payment_method_type: maybe(choice(...methodTypes)),
  operator: maybe(Type.String({ maxLength: 64 })),
  fee_mode: maybe(choice(...feeModes)),
})

export const FeeQuoteResource = record({
  object: literals('fee_quote'),
  operation: literals(...operations),
  amount: AmountMinor,
  currency: Currency,
  fee: CountMinor,
  fee_details: Type.Array(
    record({
      type: literals('percent', 'fixed', 'minimum', 'maximum'),
      bps: nullable(Type.Integer()),
      amount: SignedMinor,
    }),
  ),
  fee_mode: literals(...feeModes),
  total_amount: AmountMinor,
  net_amount: CountMinor,
  country: nullable(Type.String()),
  payment_method_type: nullable(literals(...methodTypes)),
  operator: nullable(Type.String()),
  expires_at: Timestamp,
})

/** Domain model 3. An estimate: the tariffs in force when the operation is done are charged. */
const validMs = 15 * 60_000

/** Nothing is stored. */
export async function quote({
  body,
  caller,
  dependencies,
}: Request<Static<typeof FeeQuoteRequest>>): Promise<Static<typeof FeeQuoteResource>> {
  const { amount, currency } = body
  const operation = body.operation ?? 'payment'
  const [country, operator] = [body.country ?? null, body.operator ?? null]
  const byMethod = operation === 'payment' || operation === 'payout'
  const method = body.payment_method_type ?? (byMethod ? 'mobile_money' : undefined)
  const direction = operation === 'payout' ? 'payout' : 'pay_in'
  admitQuote({ direction, method, currency, country, operator })
  const now = dependencies.clock(caller)
  const asked = {
    operation,
    amountMinor: amount,
    currency,
    merchant: caller.merchant,
    country: country ?? undefined,
    operator: operator ?? undefined,
    method,
    feeMode: body.fee_mode ?? undefined,
  }
  const { feeMinor, details, feeMode, totalMinor, netMinor } = quoteFee(asked, now)
  return {
    object: 'fee_quote',
    operation,
    amount,
    currency,
    fee: feeMinor,
    fee_details: details.map(viewDetail),
    fee_mode: feeMode,
    total_amount: totalMinor,
    net_amount: netMinor,
    country,
    payment_method_type: method ?? null,
    operator,
    expires_at: new Date(now.getTime() + validMs).toISOString(),
  }
}

function viewDetail({ type, basisPoints, amountMinor }: FeeDetail) {
  return { type, bps: basisPoints, amount: amountMinor }
}
