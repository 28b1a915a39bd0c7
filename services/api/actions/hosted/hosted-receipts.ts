import { isErased } from '../../../../packages/contract/payments/holders.ts'
import {
  AmountMinor,
  CountMinor,
  Country,
  literals,
  nullable,
  record,
  Type,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import type { InvoiceEvents } from '../../../../packages/domain/invoices/events.ts'
import { invoice } from '../../../../packages/domain/invoices/invoice.ts'
import type { ExistingInvoice } from '../../../../packages/domain/invoices/state.ts'
import { refundedMinor, type CreatedIntent } from '../../../../packages/domain/payment-intents/state.ts'
import { recordedEvent } from '../../../../packages/kernel/history.ts'
import type { StoredEvent } from '../../../../packages/kernel/ports.ts'
import type { RailMethod } from '../../../../packages/kernel/ports/rails.ts'

// What a payer keeps of what was paid on a page.

const Part = record({
  amount: AmountMinor,
  refunded_amount: { ...CountMinor, description: 'What of it the payer has got back' },
  paid_at: Type.String({ format: 'date-time' }),
  method: literals('mobile_money', 'card', 'wallet', 'outside'),
  country: nullable({ ...Country, description: 'Of the operator' }),
  operator: nullable(Type.String()),
  phone: nullable(Type.String({ description: 'Last four digits' })),
})

export const HostedReceipt = nullable(
  record(
    {
      number: Type.String(),
      paid_at: Type.String({ format: 'date-time', description: 'When the last part was paid' }),
      parts: Type.Array(Part, { minItems: 1, description: 'In the order in which they were paid' }),
    },
    { description: 'Once it is paid' },
  ),
)

export type HostedReceiptView = NonNullable<Static<typeof HostedReceipt>>
type ReceiptPart = Static<typeof Part>

/**
 * `20260131-7F3A9C21B04E`: to be read aloud to the merchant, who finds what was paid by it. An id may begin
 * with the time, which many share: only its end is its own.
 */
export function receiptNumber(id: string, paidAt: string): string {
  return `${paidAt.slice(0, 10).replaceAll('-', '')}-${id.slice(-12).toUpperCase()}`
}

export function lastDigits({ msisdn, ...method }: Extract<RailMethod, { type: 'mobile_money' }>): string {
  return isErased({ ...method, msisdn }) ? msisdn : msisdn.slice(-4)
}

/** `id` is what was paid, and `parts` have paid it. */
export function receiptOf(id: string, parts: readonly ReceiptPart[]): HostedReceiptView | null {
  const inOrder = parts.toSorted((one, other) => (one.paid_at < other.paid_at ? -1 : 1))
  const paid_at = inOrder.at(-1)?.paid_at
  return paid_at === undefined ? null : { number: receiptNumber(id, paid_at), paid_at, parts: inOrder }
}

export function paidByIntent(intent: CreatedIntent | undefined): readonly ReceiptPart[] {
  if (intent?.status !== 'succeeded') return []
  const { payment, attempts, amount } = intent
  const { method } = attempts.find(({ operationId }) => operationId === payment.operationId)!
  const phone =
    method.type === 'mobile_money'
      ? { country: method.country, operator: method.operator, phone: lastDigits(method) }
      : { country: null, operator: null, phone: null }
  const paid = { amount, refunded_amount: refundedMinor(payment), paid_at: payment.succeededAt }
  return [{ ...paid, method: method.type as 'mobile_money' | 'card', ...phone }]
}

type Paid = InvoiceEvents['InvoicePaid']

/** Each payment of an invoice that still counts. Its newest try may not have been told to it yet. */
export async function partsOfInvoice(
  state: ExistingInvoice,
  events: readonly StoredEvent[],
  intentOf: (id: string) => Promise<CreatedIntent | undefined>,
): Promise<readonly ReceiptPart[]> {
  const { attempt, paidBy, returned } = state
  const intents = paidBy.flatMap(({ type, id }) => (type === 'payment_intent' ? [id!] : []))
  const known = new Set(attempt ? [...intents, attempt.paymentIntent] : intents)
  const counted = [...known].filter((id) => !returned.includes(id))
  const byIntents = (await Promise.all(counted.map(intentOf))).flatMap(paidByIntent)
  return [...byIntents, ...events.filter(({ type }) => paying.has(type)).flatMap(paidHere)]
}

const paying = new Set<string>(['InvoicePaid', 'InvoicePartlyPaid'] satisfies (keyof InvoiceEvents)[])

/** What was paid without an intent. */
function paidHere(event: StoredEvent): readonly ReceiptPart[] {
  const { data, metadata } = recordedEvent(invoice, event)
  const { amount, by } = data as Paid
  if (by.type === 'payment_intent' || amount === 0) return []
  const nowhere = { refunded_amount: 0, country: null, operator: null, phone: null }
  return [{ amount, paid_at: metadata.at, method: by.type, ...nowhere }]
}
