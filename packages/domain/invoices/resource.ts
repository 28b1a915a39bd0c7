import { publicId } from '../../contract/identity.ts'
import {
  AmountMinor,
  base,
  choice,
  CountMinor,
  Currency,
  Email,
  Identity,
  literals,
  LowerCurrency,
  maybe,
  Metadata,
  nameText,
  nullable,
  proseText,
  record,
  Timestamp,
  Type,
  UnixSeconds,
  unixSeconds,
  type Static,
} from '../../contract/vocabulary.ts'
import { Day } from './events.ts'
import { amountDue, type Invoice } from './state.ts'

export const Description = proseText(1000, 'What is paid for, as the payer reads it')

/** Spec, billing. What is left out there is taken from the subscription. */
export const InvoiceRequest = record({
  subscriptionId: maybe({ ...Identity, description: 'What it is about; it gives what is left out' }),
  customerId: maybe({ ...Identity, description: "Who pays; left out, the subscription's customer" }),
  currency: maybe({ ...Currency, description: "ISO 4217 code; left out, the subscription's" }),
  amountDue: maybe({
    ...CountMinor,
    description: "In the smallest unit; left out, the subscription's price",
  }),
  periodStart: maybe({ ...Timestamp, description: "Left out, the subscription's current period" }),
  periodEnd: maybe({ ...Timestamp, description: "Left out, the subscription's current period" }),
  dueDate: maybe({ ...Timestamp, description: 'On this day it is due; left out, in 30 days' }),
})

export const MerchantInvoiceRequest = record({
  customer: maybe({ ...Identity, description: 'Who pays' }),
  customer_email: maybe(Email),
  customer_name: maybe(nameText(256, 'As the invoice shows it')),
  amount: AmountMinor,
  currency: Currency,
  due_date: maybe({ ...Day, description: 'Left out, in 30 days' }),
  description: maybe(Description),
  status: maybe({ ...choice('draft', 'open'), description: '`draft`: nobody can pay it yet' }),
  metadata: maybe(Metadata),
})

export const InvoiceMove = record({
  status: {
    ...choice('open', 'void', 'uncollectible', 'paid'),
    description: '`paid`: outside of this service; no money moves here',
  },
})

const statuses = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const

export const InvoiceStatus = choice(...statuses)

const Line = record({
  description: nullable(Type.String()),
  quantity: Type.Integer({ minimum: 0, description: 'How many of it' }),
  amount: CountMinor,
})

export const InvoiceResource = record({
  ...base('invoice', 'inv'),
  number: nullable(
    Type.String({ description: 'Without gaps; null in a draft, and for a moment after it is issued' }),
  ),
  customer: nullable(Type.String()),
  subscription: nullable(Type.String({ description: 'Id of the subscription that it is about' })),
  status: literals(...statuses),
  currency: LowerCurrency,
  amount_due: { ...CountMinor, description: 'The whole amount of the invoice' },
  amount_paid: { ...CountMinor, description: 'What of it is paid' },
  due_date: nullable({ ...Day, description: 'The day on which it is due; null in a draft without one' }),
  overdue: Type.Boolean({ description: 'It is open and its due day has passed' }),
  description: nullable(Type.String()),
  period_start: nullable({ ...UnixSeconds, description: 'Of the period that it is about' }),
  period_end: nullable({ ...UnixSeconds, description: 'Of the period that it is about' }),
  lines: Type.Array(Line, { description: 'What the amount is made of' }),
  payment_intent: nullable(Type.String({ description: 'The newest try to pay' })),
  hosted_invoice_url: Type.String({ description: 'The page for the payer' }),
  metadata: Metadata,
})

export type InvoiceView = Static<typeof InvoiceResource>

/** `number` may be known before the state has it. */
export function viewInvoice(
  id: string,
  state: Invoice,
  number = state.status === 'none' ? null : state.number,
): InvoiceView | undefined {
  if (state.status === 'none') return undefined
  const { period, description } = state
  // What costs nothing is paid as soon as it has its number.
  const isFree = state.status === 'open' && number !== null && amountDue(state) === 0
  return {
    id: publicId('inv', id),
    object: 'invoice',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    number: number === null ? null : numberText(number),
    customer: state.customer && publicId('cus', state.customer),
    subscription: state.subscription && publicId('sub', state.subscription),
    status: isFree ? 'paid' : state.status,
    currency: state.currency.toLowerCase(),
    amount_due: amountDue(state),
    amount_paid: state.amountPaid,
    due_date: state.dueDate,
    overdue: state.isOverdue,
    description,
    period_start: period && unixSeconds(period.start),
    period_end: period && unixSeconds(period.end),
    lines: state.lines.map((line) => ({ ...line, description: line.description ?? description })),
    payment_intent: state.attempt && publicId('pi', state.attempt.paymentIntent),
    hosted_invoice_url: state.url,
    metadata: state.metadata,
  }
}

/** `INV-000042` */
export function numberText(number: number): string {
  return `INV-${String(number).padStart(6, '0')}`
}
