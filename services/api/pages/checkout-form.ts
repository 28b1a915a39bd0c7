import type { HostedCheckoutView } from '../../../packages/domain/checkout/resource.ts'
import { html, type Html } from '../docs/html.ts'
import type { Reader } from './layout.ts'
import { money } from './money.ts'
import { alert, amountField, type AmountForm, phoneFields } from './pay-parts.ts'

type Method = HostedCheckoutView['payment_methods'][number]

export interface FormState {
  readonly view: HostedCheckoutView
  readonly reader: Reader
  /** What the payer had typed before it was refused. */
  readonly typed: Readonly<Record<string, unknown>>
  /** Why nothing was paid, in the payer's words. */
  readonly problem?: string | undefined
}

/** What is paid, and to whom, comes first. */
export function due({ view, reader }: FormState): Html {
  const { words, language } = reader
  const { currency, description, merchant } = view
  const [method] = view.payment_methods
  // Before, it is what the first method costs; an amount to be chosen is not known yet.
  const isBegun = view.payment_status !== 'unpaid'
  const fee = (isBegun ? view.fee : method?.fee) ?? 0
  const amount = view.open_amount && !isBegun ? null : view.amount
  return html`<h1 class="due">
      <span class="label">${amount === null ? words.pageFor(merchant.name) : words.amountDue}</span>
      ${amount !== null && html`<span class="sum">${money(amount + fee, currency, language)}</span>`}
    </h1>
    ${
      amount !== null &&
      fee > 0 &&
      html`<p class="soft">
        ${words.withFee(money(amount, currency, language), money(fee, currency, language))}
      </p>`
    }
    ${description !== null && html`<p class="soft">${description}</p>`}`
}

export function payForm(state: FormState): Html {
  const { view, reader } = state
  const { words, language } = reader
  const here = `/checkout/session/${view.id}`
  const mobile = view.payment_methods.find(({ type }) => type === 'mobile_money')
  const card = view.payment_methods.find(({ type }) => type === 'card')
  return html`${alert(state.problem)}
    <form
      class="pay"
      method="post"
      action="${here}/pay?lang=${language}"
      data-country="${view.country}"
      data-sending="${words.sending}"
    >
      ${view.open_amount && amountField(reader, openAmount(state))}
      ${mobile && phoneFields({ ...mobile, country: view.country, reader, typed: state.typed })}
      ${mobile && html`<button name="PaymentMethod" value="mobile_money">${payLabel(state, mobile)}</button>`}
      ${mobile && card && html`<p class="or">${words.or}</p>`}
      ${card && cardButton(state, card, mobile !== undefined)}
    </form>
    ${
      view.cancel_url !== null &&
      html`<form method="post" action="${here}/cancel?lang=${language}">
        <button class="quiet">${words.cancel}</button>
      </form>`
    }`
}

/** The button says what happens and how much. */
function payLabel({ view, reader }: FormState, { total_amount }: Method): string {
  const { words, language } = reader
  return total_amount === null ? words.payOpen : words.pay(money(total_amount, view.currency, language))
}

function cardButton({ view, reader }: FormState, { total_amount }: Method, isSecond: boolean): Html {
  const { words, language } = reader
  const label =
    total_amount === null ? words.payCardOpen : words.payCard(money(total_amount, view.currency, language))
  return html`<button name="PaymentMethod" value="card" formnovalidate ${isSecond && html`class="second"`}>
    ${label}
  </button>`
}

function openAmount({ view, reader: { words }, typed }: FormState): AmountForm {
  const { currency, fee_mode } = view
  return { currency, typed, ...(fee_mode === 'customer_pays' && { hint: words.feeAdded }) }
}
