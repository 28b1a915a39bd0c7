import type { Family } from '../../contract/family.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { invoice } from './invoice.ts'
import { invoiceNumbers } from './numbers.ts'
import { invoicePolicies } from './policies.ts'
import { InvoiceResource, viewInvoice } from './resource.ts'
import { invoiceTimers } from './timers.ts'

const told = publicEvents(invoice, {
  scope: 'billing.read',
  types: {
    'invoice.created': 'An invoice was issued and has its number.',
    'invoice.paid': 'An invoice was paid in full.',
    'invoice.payment_failed':
      'A try to pay an invoice has failed, or was taken back later; it can be paid again.',
    'invoice.overdue': 'The due day of an open invoice has passed.',
    'invoice.voided': 'An invoice is not to be paid after all.',
    'invoice.marked_uncollectible': 'Nobody expects an invoice to be paid any more.',
  },
  events: {
    InvoiceNumbered: 'invoice.created',
    InvoicePaid: 'invoice.paid',
    InvoicePaymentFailed: 'invoice.payment_failed',
    InvoicePaymentReturned: 'invoice.payment_failed',
    InvoiceBecameOverdue: 'invoice.overdue',
    InvoiceVoided: 'invoice.voided',
    InvoiceMarkedUncollectible: 'invoice.marked_uncollectible',
  },
  returns: InvoiceResource,
  view: (id, state) => viewInvoice(id, state),
})

/** What customers are asked to pay, for periods of subscriptions and otherwise. */
export const invoices: Family = {
  name: 'invoices',
  ids: { invoice: 'inv' },
  streams: [invoice, invoiceNumbers],
  policies: invoicePolicies,
  timers: invoiceTimers,
  publicEvents: [told],
}
