import type { HostedInvoiceView } from '../actions/hosted-invoice.ts'
import { html, type Html } from '../docs/html.ts'
import type { Reader } from './layout.ts'
import { money } from './money.ts'
import { alert, phoneFields } from './pay-parts.ts'

export interface InvoiceFormState {
  readonly view: HostedInvoiceView
  readonly reader: Reader
  /** Of the page. */
  readonly path: string
  /** What the payer had typed before it was refused. */
  readonly typed: Readonly<Record<string, unknown>>
  /** Why nothing was paid, in the payer's words. */
  readonly problem?: string | undefined
}

export function invoiceForm(state: InvoiceFormState): Html {
  const { view, reader, path, typed, problem } = state
  const { words, language } = reader
  const mobile = view.payment_methods.find(({ type }) => type === 'mobile_money')
  const card = view.payment_methods.find(({ type }) => type === 'card')
  const amount = money(view.amount_left, view.currency, language)
  return html`${alert(problem)}
    <form
      class="pay"
      method="post"
      action="${path}/pay?lang=${language}"
      data-country="${view.country}"
      data-sending="${words.sending}"
    >
      ${mobile && phoneFields({ ...mobile, country: view.country, reader, typed })}
      ${mobile && html`<button name="PaymentMethod" value="mobile_money">${words.pay(amount)}</button>`}
      ${mobile && card && html`<p class="or">${words.or}</p>`}
      ${
        card &&
        html`<button
          name="PaymentMethod"
          value="card"
          formnovalidate
          ${mobile !== undefined && html`class="second"`}
        >
          ${words.payCard(amount)}
        </button>`
      }
    </form>`
}
