import { derivedId } from '../../contract/identity.ts'
import { policy, to, toNew } from '../../kernel/policy.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import type { PaymentIntentEvents } from '../payment-intents/events.ts'
import type { Bill, SubscriptionEvents } from '../subscriptions/events.ts'
import { usualDueDate } from './due.ts'
import type { InvoiceEvents } from './events.ts'
import { invoice } from './invoice.ts'
import { invoiceNumbers, invoiceNumbersId, type InvoiceNumberEvents } from './numbers.ts'

/** A period's invoice has an id of its own, so however often it is told, it is issued once. */
const periods = policy<SubscriptionEvents>('subscription_invoices', {
  SubscriptionStarted: issue,
  SubscriptionRenewed: issue,
  SubscriptionCanceled: issue,
  SubscriptionUseBilled: issue,
})

function issue({
  id: subscription,
  data: { bill },
  metadata,
}: RecordedEvent<{ readonly bill: Bill | null }>) {
  if (bill === null) return []
  const { number, start, end, customer, currency, timeZone, lines, pages, secret } = bill
  // It is due by the period's day, however late the policy is.
  const dueDate = usualDueDate(timeZone, new Date(metadata.at))
  const about = { customer, customerName: null, subscription, period: { start, end }, currency }
  const rest = { description: null, metadata: {}, dueDate, isDraft: false }
  const data = { lines, timeZone, pages, secret, ...about, ...rest }
  return [toNew(invoice, derivedId(subscription, `period ${number}`), { type: 'CreateInvoice', data })]
}

const numbers = policy<InvoiceEvents>('invoice_numbers', {
  InvoiceIssued: ({ id, position, metadata }) => [
    to(invoiceNumbers, invoiceNumbersId(metadata), { type: 'AssignNumber', data: { invoice: id, position } }),
  ],
})

const numbering = policy<InvoiceNumberEvents>('invoice_numbering', {
  InvoiceNumberAssigned: ({ data: { invoice: id, number } }) => [
    to(invoice, id, { type: 'NumberInvoice', data: { number } }),
  ],
})

const payments = policy<PaymentIntentEvents>('invoice_payments', {
  PaymentIntentSucceeded: ({ id, data: { purpose, amount } }) => {
    if (purpose.type !== 'invoice' || purpose.id === null) return []
    return [to(invoice, purpose.id, { type: 'PayInvoice', data: { amount, paymentIntent: id } })]
  },
  PaymentIntentFailed: ({ id, data: { purpose } }) => {
    if (purpose.type !== 'invoice' || purpose.id === null) return []
    return [to(invoice, purpose.id, { type: 'RecordPaymentFailure', data: { paymentIntent: id } })]
  },
})

const returns = policy<PaymentIntentEvents>('invoice_returns', {
  PaymentIntentPaymentReturned: ({ id, data: { purpose, amount } }) => {
    if (purpose.type !== 'invoice' || purpose.id === null) return []
    return [to(invoice, purpose.id, { type: 'ReturnPayment', data: { amount, paymentIntent: id } })]
  },
})

export const invoicePolicies = [periods, numbers, numbering, payments, returns]
