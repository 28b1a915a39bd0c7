import { publicId } from '../../contract/identity.ts'
import {
  AmountMinor,
  base,
  clearable,
  Country,
  Currency,
  Email,
  Identity,
  KnownCountry,
  literals,
  maybe,
  Metadata,
  MetadataRevision,
  Msisdn,
  nullable,
  proseText,
  record,
  Timestamp,
  Type,
  unixSeconds,
  choice,
  type Static,
  webAddress,
} from '../../contract/vocabulary.ts'
import { paymentFailureCodes } from './events.ts'
import { returnUrlOf } from './return-url.ts'
import type { Attempt, CreatedIntent, PaymentIntent } from './state.ts'

/** Spec, Metadata rules for PaymentIntent: values that are not strings are accepted but not returned. */
const GivenMetadata = Type.Unsafe<Record<string, unknown>>({
  ...Metadata,
  additionalProperties: { maxLength: 512 },
  description: 'Keys and values are strings; other values and reserved keys are dropped',
})

const Description = proseText(1000, 'Text of your own')

export const PaymentIntentRequest = record({
  amount: AmountMinor,
  currency: Currency,
  transaction_country: Country,
  payer_country: maybe(KnownCountry),
  rail_country: maybe(KnownCountry),
  description: maybe(Description),
  metadata: maybe(GivenMetadata),
  customer: maybe(Identity),
  customer_email: maybe(Email),
  customer_phone: maybe(Msisdn),
  payment_method_types: maybe(
    Type.Array(choice('mobile_money', 'card'), {
      minItems: 1,
      maxItems: 2,
      description: 'Taken from clients that send it; how it is paid is chosen when the intent is confirmed',
    }),
  ),
})

export const PaymentIntentRevision = record({
  description: clearable(Description),
  metadata: clearable(
    Type.Unsafe<Record<string, unknown>>({
      ...MetadataRevision,
      additionalProperties: GivenMetadata['additionalProperties'],
      description: `${MetadataRevision.description}; other values and reserved keys are dropped`,
    }),
  ),
})

/** Inferred: only web addresses, because our page sends the payer's browser there. */
const ReturnUrl = Type.String({
  format: 'uri',
  ...webAddress,
  description: 'Where the payer goes after the payment',
})

/** The type decides which part is required; the decision checks it. */
const GivenMethod = record({
  type: choice('mobile_money', 'card'),
  mobile_money: maybe(
    record(
      {
        country: Country,
        operator: Type.String({ minLength: 1, maxLength: 64 }),
        msisdn: Msisdn,
        preferred_flow: maybe(Type.String({ maxLength: 64 })),
      },
      // Existing clients send it like this.
      { 'x-aliases': { phone: 'msisdn' } },
    ),
  ),
  card: maybe(record({ token: Type.String({ minLength: 1, maxLength: 255 }) })),
})

export const ConfirmationRequest = record({ payment_method: GivenMethod, return_url: maybe(ReturnUrl) })

export const paymentIntentStatuses = [
  'requires_payment_method',
  'processing',
  'requires_action',
  'succeeded',
  'failed',
  'canceled',
] as const

export const PaymentIntentStatus = choice(...paymentIntentStatuses)

const NextAction = Type.Union([
  record({
    type: literals('mobile_money_ussd'),
    mobile_money_ussd: record({ message: Type.String() }, { 'x-name': 'UssdPrompt' }),
  }),
  record({
    type: literals('redirect_to_url'),
    redirect_to_url: record({ url: Type.String(), return_url: Type.String() }, { 'x-name': 'Redirect' }),
  }),
])

export const PaymentIntentResource = record({
  ...base('payment_intent', 'pi'),
  amount: AmountMinor,
  currency: Currency,
  status: literals(...paymentIntentStatuses),
  description: nullable(Type.String()),
  metadata: Metadata,
  next_action: nullable(NextAction),
  customer: nullable(Type.String()),
  transaction_country: Country,
  payer_country: nullable(Country),
  rail_country: nullable(Country),
  payment_method_type: nullable(literals('mobile_money', 'card')),
  operation_id: nullable(Type.String()),
  failure_code: nullable(literals(...paymentFailureCodes)),
  failure_message: nullable(Type.String()),
  canceled_at: nullable(Timestamp),
})

export type PaymentIntentView = Static<typeof PaymentIntentResource>

export function viewPaymentIntent(id: string, state: PaymentIntent): PaymentIntentView | undefined {
  if (state.status === 'none') return undefined
  const attempt = shownAttempt(state)
  return {
    id: publicId('pi', id),
    object: 'payment_intent',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    amount: state.amount,
    currency: state.currency,
    status: state.status,
    description: state.description,
    metadata: state.metadata,
    next_action: attempt ? nextAction(state, attempt) : null,
    customer: state.customer && publicId('cus', state.customer),
    transaction_country: state.transactionCountry,
    payer_country: state.payerCountry,
    rail_country: state.railCountry,
    payment_method_type: attempt?.method.type ?? null,
    operation_id: attempt ? publicId('op', attempt.operationId) : null,
    failure_code: state.status === 'failed' ? state.failure.code : null,
    failure_message: state.status === 'failed' ? state.failure.message : null,
    canceled_at: state.status === 'canceled' ? state.canceledAt : null,
  }
}

/** The last confirmation, unless it was aborted: then nothing of it is shown. */
function shownAttempt({ attempts }: CreatedIntent): Attempt | undefined {
  const last = attempts.at(-1)
  return last?.aborted ? undefined : last
}

function nextAction(intent: CreatedIntent, attempt: Attempt): PaymentIntentView['next_action'] {
  const { method } = attempt
  if (intent.status === 'requires_action') {
    return { type: 'redirect_to_url', redirect_to_url: { url: intent.url, return_url: returnUrlOf(attempt) } }
  }
  if (intent.status !== 'processing' || method.type !== 'mobile_money') return null
  const message = `Approve the payment on the phone whose number ends in ${method.msisdn.slice(-4)}`
  return { type: 'mobile_money_ussd', mobile_money_ussd: { message } }
}
