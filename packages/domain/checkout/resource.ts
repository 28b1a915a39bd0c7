import { publicId } from '../../contract/identity.ts'
import { feeModes, GivenMethodTypes, MethodTypes } from '../../contract/payments/payment-methods.ts'
import { PayersMerchant } from '../../contract/payments/payers-merchant.ts'
import {
  AmountMinor,
  base,
  choice,
  CountMinor,
  Country,
  Currency,
  Email,
  Identity,
  literals,
  maybe,
  Msisdn,
  nullable,
  record,
  Type,
  isReachable,
  UnixSeconds,
  unixSeconds,
  webAddress,
  type Static,
} from '../../contract/vocabulary.ts'
import { AnyMetadata, type CheckoutSession, type ExistingSession } from './checkout-session.ts'

const placeholder = '{CHECKOUT_SESSION_ID}'

/** Only web addresses, because our page sends the payer's browser there. */
const ReturnUrl = Type.String({
  ...webAddress,
  examples: ['https://shop.example/thanks?session={CHECKOUT_SESSION_ID}'],
  description: `A web address; \`${placeholder}\` in it becomes the session's id`,
})

export const CheckoutSessionRequest = record({
  amount: maybe({ ...AmountMinor, description: 'In the smallest unit; a payment link may give it' }),
  currency: maybe({ ...Currency, description: "ISO 4217 code; left out, the link's or the merchant's" }),
  country: maybe({ ...Country, description: "Where it is paid; left out, the link's or the merchant's" }),
  paymentMethodTypes: maybe(GivenMethodTypes),
  successUrl: maybe(ReturnUrl),
  cancelUrl: maybe(ReturnUrl),
  customerEmail: maybe(Email),
  customerPhone: maybe(Msisdn),
  paymentLinkId: maybe(Identity),
  paymentLinkV2Id: maybe({ ...Identity, description: 'The same as `paymentLinkId`' }),
  deferPaymentIntentCreation: maybe(
    Type.Boolean({ description: 'True: the payment intent is created when the payer pays' }),
  ),
  metadata: maybe(AnyMetadata),
})

const statuses = ['open', 'completed', 'canceled', 'expired'] as const
const paymentStatuses = ['unpaid', 'processing', 'paid'] as const

export const CheckoutSessionStatus = choice(...statuses)

const status = literals(...statuses)
const payment_status = literals(...paymentStatuses)
const total_amount = nullable({ ...AmountMinor, description: 'What the payer pays, with the fee' })
const fee = nullable({
  ...CountMinor,
  description: 'What the payer pays on top; null as long as it depends on the method',
})

export const CheckoutSessionResource = record({
  ...base('checkout_session', 'cs'),
  url: Type.String({ description: 'The page for the payer' }),
  status,
  payment_status,
  amount: nullable(AmountMinor),
  currency: Currency,
  country: Country,
  payment_method_types: MethodTypes,
  fee_mode: literals(...feeModes),
  fee,
  total_amount,
  payment_intent: nullable(Type.String({ description: 'The newest try to pay' })),
  customer: nullable(Type.String()),
  customer_email: nullable(Type.String()),
  payment_link: nullable(Type.String()),
  success_url: nullable(Type.String()),
  cancel_url: nullable(Type.String()),
  metadata: AnyMetadata,
  expires_at: UnixSeconds,
})

export type CheckoutSessionView = Static<typeof CheckoutSessionResource>

export type PaymentStatus = (typeof paymentStatuses)[number]

/** `payment` is how the newest try stands; left out where only the session itself is known. */
export function viewCheckoutSession(
  id: string,
  state: CheckoutSession,
  payment: PaymentStatus = state.status !== 'none' && state.paidBy !== null ? 'paid' : 'unpaid',
): CheckoutSessionView | undefined {
  if (state.status === 'none') return undefined
  const { payer, attempt, link } = state
  return {
    id: publicId('cs', id),
    object: 'checkout_session',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    url: state.url,
    status: state.status,
    payment_status: payment,
    ...moneyOf(state),
    country: state.country,
    payment_method_types: state.methods,
    fee_mode: state.feeMode,
    payment_intent: attempt && publicId('pi', attempt.paymentIntent),
    customer: payer.customer && publicId('cus', payer.customer),
    customer_email: payer.email,
    payment_link: link,
    success_url: returnUrl(id, state.successUrl),
    cancel_url: returnUrl(id, state.cancelUrl),
    metadata: state.metadata,
    expires_at: unixSeconds(state.expiresAt),
  }
}

/** By the newest try to pay; before, what is known without it. */
export function moneyOf({ amount, currency, feeMode, attempt }: ExistingSession) {
  if (attempt) {
    const { amount, fee } = attempt
    return { amount, currency, fee, total_amount: amount + fee }
  }
  const isKnown = feeMode === 'merchant_pays' && amount !== null
  return { amount, currency, fee: isKnown ? 0 : null, total_amount: isKnown ? amount : null }
}

/** Whether a browser can go there. */
export function isReturnUrl(url: string): boolean {
  return isReachable(filledReturnUrl(url))
}

/** As it looks for some session. */
export function filledReturnUrl(url: string): string {
  return url.replaceAll(placeholder, 'cs')
}

/**
 * Where the payer returns to. It says which session, never how it went: anybody could write that. The
 * merchant asks us, or gets the webhook.
 */
export function returnUrl(id: string, url: string | null): string | null {
  if (url === null) return null
  const session = publicId('cs', id)
  if (url.includes(placeholder)) return url.replaceAll(placeholder, session)
  const address = new URL(url)
  address.searchParams.set('session_id', session)
  return address.toString()
}

// What payers see.

const OfferedMethod = record({
  type: literals('mobile_money', 'card'),
  fee,
  total_amount,
  operators: Type.Array(record({ code: Type.String(), name: Type.String() })),
})

export const HostedCheckout = record({
  ...base('hosted_checkout', 'cs'),
  merchant: PayersMerchant,
  amount: nullable(AmountMinor),
  open_amount: Type.Boolean({ description: 'The payer chooses the amount' }),
  currency: Currency,
  fee_mode: literals(...feeModes),
  fee,
  total_amount,
  country: Country,
  payment_methods: Type.Array(OfferedMethod),
  status,
  payment_status,
  description: nullable(Type.String()),
  success_url: nullable(Type.String()),
  cancel_url: nullable(Type.String()),
  expires_at: UnixSeconds,
})

export type HostedCheckoutView = Static<typeof HostedCheckout>

export const CheckoutStatus = record({
  ...base('checkout_status', 'cs'),
  status,
  payment_status,
  payment_intent: nullable(Type.String()),
  operation_id: nullable(Type.String()),
  redirect_url: nullable(Type.String({ description: 'Where the payer goes next' })),
  poll_after_ms: Type.Integer({
    minimum: 0,
    description: 'Ask again after so long; 0: nothing more follows',
  }),
})

export const Receipt = record({
  ...base('receipt', 'rcp'),
  number: Type.String(),
  kind: literals('payment'),
  amount: AmountMinor,
  currency: Currency,
  fee: nullable(CountMinor),
  refunded_amount: { ...CountMinor, description: 'What of it the payer has got back' },
  paid_at: Type.String({ format: 'date-time' }),
  payer: record({
    name: nullable(Type.String()),
    email: nullable(Type.String()),
    phone: nullable(Type.String({ description: 'Last four digits' })),
  }),
  merchant: record({ name: Type.String() }),
  description: nullable(Type.String()),
  payment_intent: Type.String(),
  payment_method: literals('mobile_money', 'card'),
  operator: nullable(Type.String()),
})

export type ReceiptView = Static<typeof Receipt>
