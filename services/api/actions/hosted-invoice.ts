import { timingSafeEqual } from 'node:crypto'
import { publicId } from '../../../packages/contract/identity.ts'
import { PayersMerchant } from '../../../packages/contract/payers-merchant.ts'
import { collectorsIn, isPayableBy } from '../../../packages/contract/payment-methods.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import { hostedCardToken } from '../../../packages/contract/sandbox.ts'
import {
  base,
  CountMinor,
  Country,
  Currency,
  literals,
  maybe,
  nullable,
  record,
  Type,
  unixSeconds,
  type Static,
} from '../../../packages/contract/vocabulary.ts'
import { invoice } from '../../../packages/domain/invoices/invoice.ts'
import { numberText } from '../../../packages/domain/invoices/resource.ts'
import {
  amountDue,
  amountLeft,
  isPayable,
  type ExistingInvoice,
  type Invoice,
} from '../../../packages/domain/invoices/state.ts'
import { partsOfToken } from '../../../packages/domain/invoices/token.ts'
import { paymentFailureCodes } from '../../../packages/domain/payment-intents/events.ts'
import { isLocked, type CreatedIntent } from '../../../packages/domain/payment-intents/state.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { foldStored } from '../../../packages/kernel/history.ts'
import type { MerchantOwner, Owner } from '../../../packages/kernel/owner.ts'
import { brandedMerchant } from './brands.ts'
import { internationalNumber } from './checkout-pay.ts'
import { confirmPayment, intentOf } from './invoice-payments.ts'

// What the payer sees and does. Whoever was given the invoice's address is its payer.

type Asking = Pick<Request, 'owner' | 'dependencies' | 'params'>

interface Found {
  readonly id: string
  readonly state: ExistingInvoice
  readonly owner: Owner
}

/** The payer acts for the merchant whose invoice it is. */
export async function ownerOfInvoice(asked: Pick<Asking, 'params' | 'dependencies'>): Promise<Owner> {
  return (await issuedInvoice(asked)).owner
}

export async function issuedInvoice({
  params,
  dependencies,
}: Pick<Asking, 'params' | 'dependencies'>): Promise<Found> {
  const detail = 'No such invoice'
  const { id, secret } = partsOfToken(params['token']!) ?? refuse('resource_must_exist', { detail })
  const events = await dependencies.store.readStream(streamName(invoice.category, id), 0)
  const state = foldStored(invoice, events) as Invoice
  const isShown = state.status !== 'none' && state.status !== 'draft' && isSame(state.secret, secret)
  if (!isShown) return refuse('resource_must_exist', { detail })
  return { id, state, owner: events[0]!.metadata }
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

const PaymentMethod = record({
  type: literals('mobile_money', 'card'),
  operators: Type.Array(record({ code: Type.String(), name: Type.String() })),
})

export const HostedInvoice = record({
  ...base('hosted_invoice', 'inv'),
  number: nullable(Type.String()),
  merchant: PayersMerchant,
  status: literals('open', 'paid', 'void', 'uncollectible'),
  payment_status: literals('unpaid', 'processing', 'paid'),
  currency: Currency,
  amount_due: { ...CountMinor, description: 'The whole amount of the invoice' },
  amount_paid: { ...CountMinor, description: 'What of it is paid' },
  amount_left: { ...CountMinor, description: 'What is left to be paid' },
  issued_on: Type.String({ format: 'date', description: 'The day of the invoice' }),
  due_date: Type.String({ format: 'date', description: 'The day on which it is due' }),
  overdue: Type.Boolean({ description: 'Its due day has passed' }),
  customer_name: nullable(Type.String({ description: 'Whose invoice it is' })),
  description: nullable(Type.String()),
  lines: Type.Array(
    record({
      description: nullable(Type.String()),
      quantity: Type.Integer({ minimum: 0, description: 'How many of it' }),
      amount: CountMinor,
    }),
    { description: 'What the amount is made of' },
  ),
  country: Country,
  payment_methods: Type.Array(PaymentMethod),
  payment: nullable(
    record(
      {
        operator: nullable(Type.String()),
        phone: nullable(Type.String({ description: 'Last four digits' })),
        operation_id: nullable(Type.String()),
        redirect_url: nullable(Type.String()),
        failure_code: nullable(literals(...paymentFailureCodes)),
      },
      { description: 'The newest try to pay' },
    ),
  ),
})

export type HostedInvoiceView = Static<typeof HostedInvoice>

export async function hostedInvoice(request: Asking): Promise<HostedInvoiceView> {
  const { id, state } = await issuedInvoice(request)
  const { brand, country } = await brandedMerchant(request.dependencies, request.owner as MerchantOwner)
  const intent = state.attempt ? await intentOf(request, state.attempt.paymentIntent) : undefined
  return {
    id: publicId('inv', id),
    object: 'hosted_invoice',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    number: state.number === null ? null : numberText(state.number),
    merchant: brand,
    // A draft is not shown.
    status: state.status as HostedInvoiceView['status'],
    payment_status: paymentStatusOf(state, intent),
    currency: state.currency,
    amount_due: amountDue(state),
    amount_paid: state.amountPaid,
    amount_left: amountLeft(state),
    issued_on: state.issuedOn!,
    due_date: state.dueDate!,
    overdue: state.isOverdue,
    customer_name: state.customerName,
    description: state.description,
    lines: state.lines.map((line) => ({ ...line, description: line.description ?? state.description })),
    country,
    payment_methods: isPayable(state) ? methodsFor(state, country) : [],
    payment: intent ? tried(intent) : null,
  }
}

function paymentStatusOf(state: ExistingInvoice, intent: CreatedIntent | undefined) {
  if (state.status === 'paid' || intent?.status === 'succeeded') return 'paid'
  const isBegun =
    intent && (intent.status === 'processing' || intent.status === 'requires_action' || isLocked(intent))
  return isBegun ? 'processing' : 'unpaid'
}

function methodsFor(state: ExistingInvoice, country: string): HostedInvoiceView['payment_methods'] {
  const place = { country, currency: state.currency }
  const left = amountLeft(state)
  const types = (['mobile_money', 'card'] as const).filter((type) => isPayableBy(type, place, left))
  return types.map((type) => {
    const operators = type === 'card' ? [] : collectorsIn(place, left)
    return { type, operators: operators.map(({ code, name }) => ({ code, name })) }
  })
}

function tried(intent: CreatedIntent): HostedInvoiceView['payment'] {
  const attempt = intent.attempts.at(-1)
  const method = attempt?.method
  return {
    operator: method?.type === 'mobile_money' ? method.operator : null,
    phone: method?.type === 'mobile_money' ? method.msisdn.slice(-4) : null,
    operation_id: attempt ? publicId('op', attempt.operationId) : null,
    redirect_url: intent.status === 'requires_action' ? intent.url : null,
    failure_code: intent.status === 'failed' ? intent.failure.code : null,
  }
}

export const InvoiceStanding = record({
  ...base('invoice_standing', 'inv'),
  status: HostedInvoice.properties.status,
  payment_status: HostedInvoice.properties.payment_status,
  poll_after_ms: Type.Integer({
    minimum: 0,
    description: 'Ask again after so long; 0: nothing more follows',
  }),
})

const polledEveryMs = 1_500

export async function invoiceStanding(request: Asking): Promise<Static<typeof InvoiceStanding>> {
  const { id, livemode, created, status, payment_status } = await hostedInvoice(request)
  const poll_after_ms = payment_status === 'processing' ? polledEveryMs : 0
  return { id, object: 'invoice_standing', livemode, created, status, payment_status, poll_after_ms }
}

/** The form of our page, with the field names of that of checkout. */
export const InvoiceFormRequest = record({
  PaymentMethod: maybe(Type.String({ maxLength: 64, description: '`mobile_money` or `card`' })),
  Operator: maybe(Type.String({ maxLength: 64 })),
  PhoneNumber: maybe(
    Type.String({ maxLength: 32, description: 'As people write it: with or without the country code' }),
  ),
})

type Form = Request<Static<typeof InvoiceFormRequest>>

/** Pressing twice pays once: what is under way is shown as it is. */
export async function payHostedInvoice(request: Form): Promise<HostedInvoiceView> {
  const before = await hostedInvoice(request)
  if (before.payment_status !== 'unpaid') return before
  const { id, state } = await issuedInvoice(request)
  const { country } = before
  const payment_method = chosenMethod(request.body, country)
  await confirmPayment(request, { id, country, body: { payment_method, return_url: state.url } })
  return hostedInvoice(request)
}

function chosenMethod({ PaymentMethod, Operator, PhoneNumber }: Form['body'], country: string) {
  if (PaymentMethod === 'card') return { type: 'card', card: { token: hostedCardToken } } as const
  if (PaymentMethod !== 'mobile_money') {
    const message = 'PaymentMethod must be mobile_money or card'
    return refuseField('request_must_be_valid', '/PaymentMethod', message)
  }
  if (!Operator) return refuseField('request_must_be_valid', '/Operator', 'Operator is required')
  if (!PhoneNumber) return refuseField('request_must_be_valid', '/PhoneNumber', 'PhoneNumber is required')
  const mobile_money = { country, operator: Operator, msisdn: internationalNumber(country, PhoneNumber) }
  return { type: 'mobile_money', mobile_money } as const
}
