import type { Message } from '../../kernel/decider.ts'
import { nextReminderAt } from './due.ts'
import type { InvoiceEvents } from './events.ts'
import type { ExistingInvoice } from './state.ts'

/** What the operator takes back has not paid an invoice: it can be paid again, and is due as before. */

interface Returned {
  readonly paymentIntent: string
  readonly amount: number
}

export function paymentReturned(
  current: ExistingInvoice,
  { paymentIntent, amount }: Returned,
  now: Date,
): readonly Message<InvoiceEvents>[] {
  const { paidBy, returned, status, dueDate, timeZone } = current
  const hasPaid = paidBy.some(({ id }) => id === paymentIntent) && !returned.includes(paymentIntent)
  if (!hasPaid || dueDate === null) return []
  const reopens = status === 'paid'
  const next = reopens ? nextReminderAt({ dueDate, timeZone }, now) : null
  const data = { paymentIntent, amount, reopens, dueDate, timeZone, next }
  return [{ type: 'InvoicePaymentReturned', data }]
}

export function withoutReturned(
  current: ExistingInvoice,
  { paymentIntent, amount }: Returned,
): ExistingInvoice {
  const { attempt, status, returned } = current
  const isNewest = attempt?.paymentIntent === paymentIntent
  return {
    ...current,
    status: status === 'paid' ? 'open' : status,
    amountPaid: current.amountPaid - amount,
    attempt: isNewest ? { ...attempt, isFailed: true } : attempt,
    returned: [...returned, paymentIntent],
  }
}
