import { invoice } from '../../packages/domain/invoices/invoice.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import type { Process, Tools } from './process.ts'

export const invoiceProcess: Process = { timers: { invoice_overdue: markOverdue } }

async function markOverdue({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<undefined> {
  const order = to(invoice, subject, { type: 'MarkOverdue', data: {} })
  await tools.send(order, { merchant, livemode }, 'timer')
}
