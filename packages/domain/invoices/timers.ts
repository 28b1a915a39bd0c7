import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import { overdueFrom } from './due.ts'
import type { InvoiceEvents } from './events.ts'

export const invoiceTimers = timerHandlers<InvoiceEvents>({
  InvoiceIssued: (event) => [start('invoice_overdue', event.id, event, overdueFrom(event.data))],
  InvoiceBecameOverdue: ({ id }) => [stop('invoice_overdue', id)],
  InvoicePaid: ({ id }) => [stop('invoice_overdue', id)],
  InvoiceVoided: ({ id }) => [stop('invoice_overdue', id)],
  InvoiceMarkedUncollectible: ({ id }) => [stop('invoice_overdue', id)],
})
