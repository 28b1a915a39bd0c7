import { start, startedOnce, stop, timerHandlers } from '../../kernel/timer.ts'
import { overdueFrom } from './due.ts'
import type { InvoiceEvents } from './events.ts'

export const invoiceTimers = timerHandlers<InvoiceEvents>({
  // Reminders come after the due day: as long as nobody is late, an invoice has one timer.
  InvoiceIssued: (event) => [startedOnce(start('invoice_overdue', event.id, event, overdueFrom(event.data)))],
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
  InvoiceBecameOverdue: (event) => {
    const { remindAt } = event.data
    const reminder = remindAt === null ? [] : [start('invoice_reminder', event.id, event, remindAt)]
    return [stop('invoice_overdue', event.id), ...reminder]
  },
  InvoicePaid: settled,
  InvoiceVoided: settled,
  InvoiceMarkedUncollectible: settled,
})

function settled({ id }: { readonly id: string }) {
  return [stop('invoice_overdue', id), stop('invoice_reminder', id)]
}
