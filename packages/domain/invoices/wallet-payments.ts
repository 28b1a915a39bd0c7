import { refuse } from '../../contract/refusals.ts'
import type { Message } from '../../kernel/decider.ts'
import type { InvoiceEvents } from './events.ts'
import { amountLeft, isPayable, liveAttempt, why, type ExistingInvoice, type WalletPayment } from './state.ts'

/** Payments by wallet: the invoice waits for the book, which alone knows what the wallet covers. */

export type WalletWish = Omit<InvoiceEvents['InvoiceWalletPaymentStarted'], 'isWhole' | 'currency'>

type Happening = Message<InvoiceEvents>

export function walletPaymentStarted(
  current: ExistingInvoice,
  wish: WalletWish,
  ended: string | null,
): readonly Happening[] {
  const { application, amount } = wish
  const known = [current.walletPayment?.application, ...current.paidBy.map(({ id }) => id)]
  if (known.includes(application)) return []
  if (!isPayable(current)) refuse('invoice_state_must_allow_it', { detail: why(current) })
  mustNotBeTaking(current)
  const left = amountLeft(current)
  if (liveAttempt(current, ended) || amount > left) refuse('resource_must_not_have_changed')
  const data = { ...wish, currency: current.currency, isWhole: amount === left }
  return [{ type: 'InvoiceWalletPaymentStarted', data }]
}

/** The book answers within a moment. */
export function mustNotBeTaking({ walletPayment }: ExistingInvoice): void {
  if (walletPayment?.isOpen) refuse('resource_must_not_have_changed')
}

export function openWalletPayment({ walletPayment, status }: ExistingInvoice, id: string): WalletPayment {
  if (walletPayment?.application === id && walletPayment.isOpen) return walletPayment
  throw new Error(`${id} pays an invoice that is ${status} and does not wait for it`)
}

export function withoutOpenWalletPayment(current: ExistingInvoice): ExistingInvoice {
  const { walletPayment } = current
  return walletPayment?.isOpen ? { ...current, walletPayment: { ...walletPayment, isOpen: false } } : current
}
