import { timingSafeEqual } from 'node:crypto'
import { publicId } from '../../../../packages/contract/identity.ts'
import { PayersMerchant } from '../../../../packages/contract/payments/payers-merchant.ts'
import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import {
  base,
  CountMinor,
  Country,
  Currency,
  literals,
  nullable,
  record,
  Type,
  unixSeconds,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import { invoice } from '../../../../packages/domain/invoices/invoice.ts'
import { numberText } from '../../../../packages/domain/invoices/resource.ts'
import {
  amountDue,
  amountLeft,
  isPayable,
  type ExistingInvoice,
  type Invoice,
} from '../../../../packages/domain/invoices/state.ts'
import { partsOfToken } from '../../../../packages/domain/invoices/token.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { foldStored } from '../../../../packages/kernel/history.ts'
import type { MerchantOwner, Owner } from '../../../../packages/kernel/owner.ts'
import type { StoredEvent } from '../../../../packages/kernel/ports.ts'
import { brandedMerchant } from '../organizations/brands.ts'
import { confirmPayment, intentOf } from '../billing/invoice-payments.ts'
import {
  chosenMethod,
  methodsFor,
  payableFrom,
  type PaymentForm,
  paymentOfPage,
  paymentStatusOf,
  tried,
  usualCountry,
} from './hosted-payment.ts'
import { partsOfInvoice, receiptOf } from './hosted-receipts.ts'
import { returnIn, withReturn } from './payer-returns.ts'
import { PollAfter, pollAfterMs } from './polling.ts'
import { ifUnderWay, orWhatIsUnderWay } from './under-way.ts'

// What the payer sees and does. Whoever was given the invoice's address is its payer.

type RequestPart = Pick<Request, 'owner' | 'dependencies' | 'params'> & {
  readonly query?: { readonly back?: unknown; readonly country?: unknown }
}

interface Found {
  readonly id: string
  readonly state: ExistingInvoice
  readonly owner: Owner
  readonly events: readonly StoredEvent[]
}

/** The payer acts for the merchant whose invoice it is. */
export async function ownerOfInvoice(asked: Pick<RequestPart, 'params' | 'dependencies'>): Promise<Owner> {
  return (await issuedInvoice(asked)).owner
}

export async function issuedInvoice({
  params,
  dependencies,
}: Pick<RequestPart, 'params' | 'dependencies'>): Promise<Found> {
  const detail = 'No such invoice'
  const { id, secret } = partsOfToken(params['token']!) ?? refuse('resource_must_exist', { detail })
  const events = await dependencies.store.readStream(streamName(invoice.category, id), 0)
  const state = foldStored(invoice, events) as Invoice
  const isShown = state.status !== 'none' && state.status !== 'draft' && isSame(state.secret, secret)
  if (!isShown) return refuse('resource_must_exist', { detail })
  return { id, state, owner: events[0]!.metadata, events }
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

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
  countries: Type.Array(Country, { description: 'In which somebody can pay it by telephone' }),
  ...paymentOfPage,
})

export type HostedInvoiceView = Static<typeof HostedInvoice>

export async function hostedInvoice(request: RequestPart): Promise<HostedInvoiceView> {
  const found = await issuedInvoice(request)
  const { id, state } = found
  const { dependencies, owner, query } = request
  const { brand, country: home, isActive } = await brandedMerchant(dependencies, owner as MerchantOwner)
  const intent = state.attempt ? await intentOf(request, state.attempt.paymentIntent) : undefined
  const [{ currency, livemode }, left] = [state, amountLeft(state)]
  const [market, canBePaid] = [{ currency, livemode }, isActive && isPayable(state)]
  const countries = canBePaid ? payableFrom(dependencies, market, left) : []
  const usual = usualCountry(dependencies, { ...market, country: home }, left)
  const country = countries.find((one) => one === query?.country) ?? intent?.transactionCountry ?? usual
  return {
    id: publicId('inv', id),
    object: 'hosted_invoice',
    livemode,
    created: unixSeconds(state.createdAt),
    number: state.number === null ? null : numberText(state.number),
    merchant: brand,
    // A draft is not shown.
    status: state.status as HostedInvoiceView['status'],
    payment_status: state.status === 'paid' ? 'paid' : paymentStatusOf(intent),
    currency,
    amount_due: amountDue(state),
    amount_paid: state.amountPaid,
    amount_left: left,
    issued_on: state.issuedOn!,
    due_date: state.dueDate!,
    overdue: state.isOverdue,
    customer_name: state.customerName,
    description: state.description,
    lines: state.lines.map((line) => ({ ...line, description: line.description ?? state.description })),
    country,
    countries: [...countries],
    takes_payments: isActive,
    payment_methods: canBePaid ? methodsFor(dependencies, { ...market, country }, left) : [],
    payment: intent ? tried(intent) : null,
    receipt: await receiptOfInvoice(request, found, intent),
    return_url: await returnIn(dependencies, state.url, query?.back),
  }
}

async function receiptOfInvoice(
  request: RequestPart,
  { id, state, events }: Found,
  intent: Awaited<ReturnType<typeof intentOf>>,
) {
  const isPaid = state.status === 'paid' || intent?.status === 'succeeded'
  return receiptOf(id, isPaid ? await partsOfInvoice(state, events, (each) => intentOf(request, each)) : [])
}

export const InvoiceStanding = record({
  ...base('invoice_standing', 'inv'),
  status: HostedInvoice.properties.status,
  payment_status: HostedInvoice.properties.payment_status,
  poll_after_ms: PollAfter,
})

export async function invoiceStanding(request: RequestPart): Promise<Static<typeof InvoiceStanding>> {
  const { id, livemode, created, status, payment_status } = await hostedInvoice(request)
  const poll_after_ms = pollAfterMs(payment_status === 'processing')
  return { id, object: 'invoice_standing', livemode, created, status, payment_status, poll_after_ms }
}

type Form = Request<Static<typeof PaymentForm>, { readonly back?: string; readonly country?: string }>

/**
 * Pressing twice pays once: what is under way is shown as it is. More than the button said is not paid: what
 * had paid a part may have been taken back since.
 */
export async function payHostedInvoice(request: Form): Promise<HostedInvoiceView> {
  const before = await hostedInvoice(request)
  if (before.payment_status !== 'unpaid') return before
  if (before.amount_left > Number(request.body.AtMost ?? before.amount_left))
    refuse('resource_must_not_have_changed')
  const { id, state } = await issuedInvoice(request)
  const { country } = before
  const payment_method = chosenMethod(request.body, country)
  const return_url = await withReturn(request.dependencies, state.url, before.return_url)
  return orWhatIsUnderWay(
    async () => {
      await confirmPayment(request, { id, country, body: { payment_method, return_url } })
      return hostedInvoice(request)
    },
    async () => ifUnderWay(await hostedInvoice(request)),
  )
}
