import { marketOf } from '../../../packages/contract/catalog.ts'
import type { HostedInvoiceView } from '../actions/hosted-invoice.ts'
import { html, type Html } from '../docs/html.ts'
import type { Reader } from './layout.ts'
import { money } from './money.ts'

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

/** The same fields as those of checkout, so that the browser remembers one number for both. */
export function invoiceForm(state: InvoiceFormState): Html {
  const { view, reader, path, problem } = state
  const { words, language } = reader
  const mobile = view.payment_methods.find(({ type }) => type === 'mobile_money')
  const card = view.payment_methods.find(({ type }) => type === 'card')
  const amount = money(view.amount_left, view.currency, language)
  return html`${
      problem !== undefined &&
      html`<div class="alert" role="alert">
        <p>${problem}</p>
      </div>`
    }
    <form
      class="pay"
      method="post"
      action="${path}/pay?lang=${language}"
      data-country="${view.country}"
      data-sending="${words.sending}"
    >
      ${mobile && mobileFields(state, mobile.operators)}
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

type Operators = HostedInvoiceView['payment_methods'][number]['operators']

function mobileFields(state: InvoiceFormState, operators: Operators): Html {
  const { words } = state.reader
  const chosen = operators.length === 1 ? operators[0]!.code : state.typed['Operator']
  return html`<fieldset>
      <legend>${words.operator}</legend>
      <div class="choices">${operators.map((one) => tile(one, chosen === one.code))}</div>
    </fieldset>
    ${numberField(state)}
    <label class="remember" hidden><input type="checkbox" checked />${words.remember}</label>`
}

function tile({ code, name }: Operators[number], isChosen: boolean): Html {
  return html`<label class="choice">
    <input type="radio" name="Operator" value="${code}" required ${isChosen && html`checked`} />
    ${name}
  </label>`
}

function numberField({ view, reader: { words }, typed }: InvoiceFormState): Html {
  const { callingCode, msisdnPattern, msisdnExample } = marketOf(view.country)!
  const example = msisdnExample.slice(callingCode.length)
  const { PhoneNumber: number } = typed
  return html`<div class="field">
    <label for="number">${words.number}</label>
    <div class="typed">
      <span aria-hidden="true">${callingCode}</span>
      <input
        id="number"
        name="PhoneNumber"
        type="tel"
        inputmode="tel"
        autocomplete="tel"
        required
        maxlength="24"
        value="${typeof number === 'string' ? number : ''}"
        aria-describedby="number-hint number-fault"
        data-code="${callingCode}"
        data-pattern="${msisdnPattern.source}"
        data-wrong="${words.numberWrong}"
      />
    </div>
    <p class="hint" id="number-hint">${words.numberHint(example.length, example)}</p>
    <p class="fault" id="number-fault" aria-live="polite"></p>
  </div>`
}
