import type { InvoiceEvents, Payer } from './events.ts'

type Terms = InvoiceEvents['InvoiceDrafted']

export interface Attempt {
  readonly paymentIntent: string
  readonly number: number
  readonly amount: number
  readonly isFailed: boolean
}

export interface WalletPayment {
  readonly application: string
  readonly amount: number
  readonly isOpen: boolean
}

export interface ExistingInvoice extends Terms {
  readonly livemode: boolean
  readonly createdAt: string
  readonly status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  /** The day of the invoice; null for a draft. */
  readonly issuedOn: string | null
  readonly number: number | null
  readonly amountPaid: number
  /** The newest try to pay; all earlier ones had ended when it began. */
  readonly attempt: Attempt | null
  /** The newest payment by wallet; while it is open, the book has not answered. */
  readonly walletPayment: WalletPayment | null
  readonly paidBy: readonly Payer[]
  /** Intents among them whose money the operator has taken back. */
  readonly returned: readonly string[]
  readonly isOverdue: boolean
  /** How often the payer was reminded. */
  readonly reminders: number
}

export type Invoice = { readonly status: 'none' } | ExistingInvoice

export function amountDue({ lines }: Pick<Terms, 'lines'>): number {
  return lines.reduce((sum, { amount }) => sum + amount, 0)
}

/** What is left to be paid. */
export function amountLeft(invoice: ExistingInvoice): number {
  return amountDue(invoice) - invoice.amountPaid
}

/** Whether anybody can pay it. */
export function isPayable(invoice: ExistingInvoice): boolean {
  return (invoice.status === 'open' || invoice.status === 'uncollectible') && amountLeft(invoice) > 0
}

/** A try that may still be paid, as far as this stream knows and its sender has seen. */
export function liveAttempt({ attempt }: ExistingInvoice, ended: string | null): Attempt | null {
  return attempt && !attempt.isFailed && attempt.paymentIntent !== ended ? attempt : null
}

export function why({ status, amountPaid }: ExistingInvoice): string {
  const part = status === 'open' && amountPaid > 0 ? ', of which a part is paid' : ''
  return `This is an invoice that is ${status}${part}`
}
