import { InvoiceLeavingQuery, InvoicePaidQuery } from '../../../packages/contract/payments/hosted-pages.ts'
import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { invoiceFormExamples } from '../../../packages/domain/invoices/examples.ts'
import {
  HostedInvoice,
  hostedInvoice,
  InvoiceStanding,
  invoiceStanding,
  ownerOfInvoice,
  payHostedInvoice,
} from '../actions/hosted/hosted-invoice.ts'
import { PaymentForm, promptedBy } from '../actions/hosted/hosted-payment.ts'
import { backToInvoice, invoicePage, refusedInvoice } from '../pages/invoice.ts'
import { refusalsOfConfirming } from './confirming.ts'

/** Whoever was given the address of an invoice is its payer. */
const payers = {
  scope: 'public',
  inferred: true,
  params: { token: 'text' },
  token: 'token',
  actsFor: ownerOfInvoice,
} as const

const rows = [
  perform('GET /invoice/{token}', {
    ...payers,
    summary: 'The page of an invoice, on which it can be paid; JSON for programs',
    query: InvoicePaidQuery,
    returns: HostedInvoice,
    page: invoicePage,
    refusedPage: refusedInvoice,
    action: hostedInvoice,
  }),

  perform('GET /invoice/{token}/status', {
    ...payers,
    summary: 'A small answer to ask for again and again: how the payment stands',
    returns: InvoiceStanding,
    action: invoiceStanding,
  }),

  perform('POST /invoice/{token}/pay', {
    ...payers,
    summary: 'Pay what is left, from the form of the page; what is under way is answered as it is',
    form: true,
    isCostly: true,
    body: PaymentForm,
    prompts: promptedBy,
    examples: invoiceFormExamples,
    query: InvoiceLeavingQuery,
    returns: HostedInvoice,
    refusals: ['invoice_state_must_allow_it', ...refusalsOfConfirming, 'merchant_must_not_be_suspended'],
    page: backToInvoice,
    refusedPage: refusedInvoice,
    action: payHostedInvoice,
  }),
]

export const hostedInvoiceRoutes = section(
  'Pages of invoices',
  'Where `hosted_invoice_url` leads: the payer sees the invoice, saves it as PDF and pays what is left.',
  rows,
)
