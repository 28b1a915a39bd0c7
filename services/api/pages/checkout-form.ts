import type { HostedCheckoutView } from '../../../packages/domain/checkout/resource.ts'
import { html, type Html } from '../docs/html.ts'
import type { Reader } from './layout.ts'
import { money, moneyPattern, unbroken } from './money.ts'
import type { refusedField } from './notices.ts'
import { alert, amountField, type AmountForm, phoneFields } from './pay-parts.ts'

type Method = HostedCheckoutView['payment_methods'][number]

export interface FormState {
  readonly view: HostedCheckoutView
  readonly reader: Reader
  /** What the payer had typed before it was refused. */
  readonly typed: Readonly<Record<string, unknown>>
  /** Why nothing was paid, in the payer's words. */
  readonly problem?: string | undefined
  /** The field of the form that it is about. */
  readonly wrong?: ReturnType<typeof refusedField>
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
      ${amount !== null && html`<span class="sum">${unbroken(money(amount + fee, currency, language))}</span>`}
    </h1>
    ${
      amount !== null &&
      fee > 0 &&
      html`<p class="soft">
        ${unbroken(words.withFee(money(amount, currency, language), money(fee, currency, language)))}
      </p>`
    }
    ${description !== null && html`<p class="soft" dir="auto">${description}</p>`}`
}

export function payForm(state: FormState): Html {
  const { view, reader, typed, wrong } = state
  const { words, language } = reader
  const here = `/checkout/session/${view.id}`
  const given = { reader, typed, isWrong: wrong === 'PhoneNumber' }
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
      ${mobile && phoneFields({ ...mobile, country: view.country, ...given })}
      ${mobile && payButton(state, mobile)} ${mobile && card && html`<p class="or">${words.or}</p>`}
      ${card && payButton(state, card, mobile !== undefined)}
    </form>
    ${
      view.cancel_url !== null &&
      html`<form method="post" action="${here}/cancel?lang=${language}">
        <button class="quiet">${words.cancel}</button>
      </form>`
    }`
}

/** The button says what happens and how much: of an amount to be chosen, once it is typed. */
function payButton(state: FormState, { type, total_amount }: Method, isSecond = false): Html {
  const { view, reader } = state
  const { words, language } = reader
  const [known, open] = type === 'card' ? [words.payCard, words.payCardOpen] : [words.pay, words.payOpen]
  const label = total_amount === null ? open : known(money(total_amount, view.currency, language))
  return html`<button
    name="PaymentMethod"
    value="${type}"
    ${type === 'card' && html`formnovalidate`}
    ${total_amount === null && html`data-amount="${known(chosen(state))}"`}
    ${isSecond && html`class="second"`}
  >
    ${unbroken(label)}
  </button>`
}

/** As the script fills it in. */
function chosen({ view: { currency, fee_mode }, reader: { words, language } }: FormState): string {
  const amount = moneyPattern(currency, language)
  return fee_mode === 'customer_pays' ? words.plusFee(amount) : amount
}

function openAmount({ view, reader: { words }, typed, wrong }: FormState): AmountForm {
  const { currency, fee_mode } = view
  const hinted = fee_mode === 'customer_pays' && { hint: words.feeAdded }
  return { currency, typed, isWrong: wrong === 'Amount', ...hinted }
}
