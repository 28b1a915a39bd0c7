import { IdentityFilter } from '../../../packages/contract/lists/envelope.ts'
import { change, create, history, list, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  invoiceConfirmExamples,
  invoiceExamples,
  invoiceMoveExamples,
  invoicePayExamples,
  merchantInvoiceExamples,
} from '../../../packages/domain/invoices/examples.ts'
import { invoice } from '../../../packages/domain/invoices/invoice.ts'
import {
  InvoiceMove,
  InvoiceRequest,
  InvoiceResource,
  InvoiceStatus,
  MerchantInvoiceRequest,
  viewInvoice,
} from '../../../packages/domain/invoices/resource.ts'
import type { Invoice } from '../../../packages/domain/invoices/state.ts'
import { invoices } from '../../../projections/invoices.ts'
import {
  confirmInvoice,
  InvoiceConfirmRequest,
  InvoicePayment,
  InvoicePayRequest,
  payInvoice,
  prepareMove,
} from '../actions/billing/invoice-payments.ts'
import {
  numberInvoice,
  numberOf,
  prepareInvoice,
  prepareMerchantInvoice,
} from '../actions/billing/invoices.ts'
import { refusalsOfConfirming } from './confirming.ts'

const viewed = {
  view: (id: string, state: Invoice) => viewInvoice(id, state),
  returns: InvoiceResource,
} as const
const read = { ...viewed, scope: 'billing.read', from: invoices } as const
const params = { id: 'invoice' }
/** What has just been issued is answered with its number. */
const issuing = {
  scope: 'billing.write',
  decider: invoice,
  view: viewInvoice,
  returns: InvoiceResource,
  beside: numberOf,
  after: numberInvoice,
} as const
const creation = {
  ...issuing,
  command: 'CreateInvoice',
  refusals: ['billing_terms_must_fit', 'resource_must_exist'],
} as const
const ofPaying = [
  'invoice_state_must_allow_it',
  'payment_must_be_eligible',
  'live_provider_must_be_configured',
] as const

const billing = [
  create('POST /api/v1/billing/invoices', {
    ...creation,
    summary: 'Issue an invoice; what is left out is taken from the subscription',
    body: InvoiceRequest,
    examples: invoiceExamples,
    prepare: prepareInvoice,
  }),

  list('GET /api/v1/billing/invoices', {
    ...read,
    summary: 'Invoices, newest first',
    paging: 'cursor',
    filter: { status: InvoiceStatus, customerId: IdentityFilter, subscriptionId: IdentityFilter },
  }),

  show('GET /api/v1/billing/invoices/{id}', { ...read, params, summary: 'One invoice' }),

  perform('POST /api/v1/billing/invoices/{id}/pay', {
    params,
    isChange: true,
    summary: 'Make the payment intent for what is left to be paid, or answer the one that waits for it',
    scope: 'billing.write',
    body: InvoicePayRequest,
    examples: invoicePayExamples,
    returns: InvoicePayment,
    refusals: ofPaying,
    action: payInvoice,
  }),

  perform('POST /api/v1/billing/invoices/{id}/confirm', {
    params,
    isChange: true,
    summary: 'Pay what is left by the method that the payer has chosen',
    scope: 'billing.write',
    body: InvoiceConfirmRequest,
    examples: invoiceConfirmExamples,
    returns: InvoicePayment,
    refusals: ['invoice_state_must_allow_it', ...refusalsOfConfirming],
    action: confirmInvoice,
  }),

  history('GET /api/v1/billing/invoices/{id}/history', { ...read, params }),
]

const merchants = [
  list('GET /api/v1/merchant/invoices', {
    ...read,
    summary: 'Invoices, newest first',
    paging: 'page',
    filter: { status: InvoiceStatus },
  }),

  show('GET /api/v1/merchant/invoices/{id}', { ...read, params, summary: 'One invoice' }),

  create('POST /api/v1/merchant/invoices', {
    ...creation,
    twinOf: 'POST /api/v1/billing/invoices',
    summary: 'Create an invoice: open, or a draft that is issued later',
    body: MerchantInvoiceRequest,
    examples: merchantInvoiceExamples,
    prepare: prepareMerchantInvoice,
  }),

  change('PATCH /api/v1/merchant/invoices/{id}/status', {
    ...issuing,
    params,
    summary: 'Issue a draft, void an invoice, write it off, or say that it was paid elsewhere',
    body: InvoiceMove,
    examples: invoiceMoveExamples,
    command: 'MoveInvoice',
    prepare: prepareMove,
    refusals: ['invoice_state_must_allow_it'],
  }),
]

export const invoiceRoutes = section(
  'Invoices',
  'What a customer is asked to pay. Each period of a subscription has one, numbered without gaps. ' +
    'Send the payer to `hosted_invoice_url`, or collect it yourself with `pay` and `confirm`.',
  [...billing, ...merchants],
)
