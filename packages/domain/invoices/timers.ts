import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import { firstReminderAt, overdueFrom } from './due.ts'
import type { InvoiceEvents } from './events.ts'

export const invoiceTimers = timerHandlers<InvoiceEvents>({
  InvoiceIssued: (event) => [
    start('invoice_overdue', event.id, event, overdueFrom(event.data)),
    start('invoice_reminder', event.id, event, firstReminderAt(event.data)),
  ],
  InvoiceReminded: (event) => {
    const { next } = event.data
    return [next ? start('invoice_reminder', event.id, event, next) : stop('invoice_reminder', event.id)]
  },
  InvoicePaymentReturned: (event) => {
    const { reopens, next } = event.data
    if (!reopens) return []
    const overdue = start('invoice_overdue', event.id, event, overdueFrom(event.data))
    return next ? [overdue, start('invoice_reminder', event.id, event, next)] : [overdue]
  },
  InvoiceBecameOverdue: ({ id }) => [stop('invoice_overdue', id)],
  InvoicePaid: settled,
  InvoiceVoided: settled,
  InvoiceMarkedUncollectible: settled,
})

function settled({ id }: { readonly id: string }) {
  return [stop('invoice_overdue', id), stop('invoice_reminder', id)]
}
