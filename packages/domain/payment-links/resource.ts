import { feeModes, GivenMethodTypes, MethodTypes } from '../../contract/payments/payment-methods.ts'
import {
  AmountMinor,
  base,
  choice,
  Country,
  Currency,
  literals,
  maybe,
  nullable,
  proseText,
  record,
  Timestamp,
  Type,
  unixSeconds,
  type Static,
} from '../../contract/vocabulary.ts'
import { slugOf, type PaymentLink } from './payment-link.ts'

const Description = {
  ...proseText(1000, 'What is paid for, as the payer reads it'),
  minLength: 1,
  examples: ['Solar lamp'],
}
const ChosenAmount = { ...AmountMinor, description: 'In the smallest unit; left out, the payer chooses it' }

export const PaymentLinkRequest = record({
  amount: maybe(ChosenAmount),
  currency: maybe({ ...Currency, description: "ISO 4217 code; left out, the merchant's" }),
  country: maybe({ ...Country, description: "Where it is paid; left out, the merchant's country" }),
  feeMode: maybe(choice(...feeModes)),
  description: maybe(Description),
  paymentMethodTypes: maybe(GivenMethodTypes),
  expiresAt: maybe(Timestamp),
  isSingleUse: maybe(Type.Boolean({ description: 'True: it is for one payment' })),
})

const statuses = ['active', 'inactive', 'expired', 'completed'] as const

export const PaymentLinkStatus = choice(...statuses)

export const PaymentLinkResource = record({
  ...base('payment_link'),
  slug: Type.String(),
  url: Type.String({ description: 'Where payers pay' }),
  qr_code_url: Type.String({ description: 'The link as a QR code, an SVG' }),
  amount: nullable({ ...AmountMinor, description: 'In the smallest unit; null: the payer chooses it' }),
  currency: Currency,
  country: Country,
  fee_mode: literals(...feeModes),
  description: nullable(Type.String()),
  payment_method_types: MethodTypes,
  status: literals(...statuses),
  is_single_use: Type.Boolean(),
  uses: Type.Integer({ minimum: 0, description: 'How often it was paid' }),
  expires_at: nullable(Timestamp),
})

export type PaymentLinkView = Static<typeof PaymentLinkResource>

export function viewPaymentLink(id: string, state: PaymentLink): PaymentLinkView | undefined {
  if (state.status === 'none') return undefined
  return {
    id,
    object: 'payment_link',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    slug: slugOf(id),
    url: state.url,
    qr_code_url: `${state.url}/qr.svg`,
    amount: state.amount,
    currency: state.currency,
    country: state.country,
    fee_mode: state.feeMode,
    description: state.description,
    payment_method_types: state.methods,
    status: state.status,
    is_single_use: state.isSingleUse,
    uses: state.uses,
    expires_at: state.expiresAt,
  }
}
