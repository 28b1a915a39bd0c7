import { operatorIn } from '../../../packages/contract/payments/catalog.ts'
import type { HostedReceiptView } from '../actions/hosted/hosted-receipts.ts'
import { html, type Html } from '../docs/html.ts'
import { invoiceWords } from './invoice-words.ts'
import type { Reader } from './layout.ts'
import { money, time } from './money.ts'
import { detailList } from './pay-parts.ts'
import { portalWords } from './portal-words.ts'

export type Rows = readonly (readonly [name: string, value: string])[]

interface Kept {
  readonly receipt: HostedReceiptView
  readonly currency: string
  /** What was paid, and to whom. */
  readonly about: Rows
}

/** What a receipt of an invoice or a top-up says, on the page and on paper. */
export function paidRows(reader: Reader, { receipt, currency, about }: Kept): Rows {
  const { words, language } = reader
  const { parts, number } = receipt
  const sum = (minor: number) => money(minor, currency, language)
  const [first] = parts as [Part]
  const total = parts.reduce((all, { amount }) => all + amount, 0)
  const refunded = parts.reduce((all, { refunded_amount }) => all + refunded_amount, 0)
  const phone: Rows = first.phone === null ? [] : [[words.phone, first.phone]]
  const alone: Rows = [
    [words.method, methodName(first, reader)],
    ...phone,
    [words.paidOn, time(first.paid_at, language)],
  ]
  const each: Rows = parts.map((part) => [
    `${time(part.paid_at, language)}, ${methodName(part, reader)}`,
    sum(part.amount),
  ])
  const paid = parts.length === 1 ? alone : each
  const back: Rows = refunded === 0 ? [] : [[words.refunded, sum(refunded)]]
  return [...about, ...paid, [words.total, sum(total)], ...back, [words.receiptNumber, number]]
}

type Part = HostedReceiptView['parts'][number]

function methodName({ method, country, operator }: Part, { words, language }: Reader): string {
  if (method === 'wallet') return portalWords[language].wallet
  if (method === 'outside') return invoiceWords[language].outside
  return operator === null ? words.card : (operatorIn(country!, operator)?.name ?? operator)
}

/** `path` is that of the page. */
export function receiptPart({ words, language }: Reader, rows: Rows, path: string): Html {
  return html`<h2>${words.receipt}</h2>
    ${detailList(rows)}
    <a class="button second" href="${path}/receipt.pdf?lang=${language}">${words.download}</a>`
}
