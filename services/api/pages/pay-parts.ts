import { marketOf } from '../../../packages/contract/payments/catalog.ts'
import { currencyExponent } from '../../../packages/contract/locale/currencies.ts'
import { html, type Html } from '../docs/html.ts'
import type { Reader } from './layout.ts'
import { signOf, unbroken } from './money.ts'
import { promptWordsOf } from './prompt-words.ts'
import type { Words } from './words.ts'

/** An operator as the page offers it. */
interface Operator {
  readonly code: string
  readonly name: string
}

export interface PhoneForm {
  readonly reader: Reader
  readonly country: string
  readonly operators: readonly Operator[]
  /** What the payer had typed before it was refused. */
  readonly typed: Readonly<Record<string, unknown>>
  /** The number is why nothing was paid. */
  readonly isWrong?: boolean
}

/** The same names on every page, so that the browser remembers one number for all of them. */
export function phoneFields(form: PhoneForm): Html {
  const { reader, operators, typed } = form
  const { words } = reader
  const chosen = operators.length === 1 ? operators[0]!.code : typed['Operator']
  return html`<fieldset>
      <legend>${words.operator}</legend>
      <div class="choices">${operators.map((operator) => tile(operator, chosen === operator.code))}</div>
    </fieldset>
    ${numberField(form)}
    <label class="remember" hidden><input type="checkbox" checked />${words.remember}</label>`
}

function tile({ code, name }: Operator, isChosen: boolean): Html {
  return html`<label class="choice">
    <input type="radio" name="Operator" value="${code}" required ${isChosen && html`checked`} />
    ${name}
  </label>`
}

function numberField({ reader: { words }, country, typed, isWrong }: PhoneForm): Html {
  const { callingCode, msisdnPattern, msisdnExample } = marketOf(country)!
  const example = msisdnExample.slice(callingCode.length)
  return html`<div class="${fieldClass(isWrong)}">
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
        value="${textOf(typed['PhoneNumber'])}"
        aria-describedby="number-hint number-fault"
        data-code="${callingCode}"
        data-pattern="${msisdnPattern.source}"
        data-wrong="${words.numberWrong}"
        ${isWrong === true && wrong}
      />
    </div>
    <p class="hint" id="number-hint">${words.numberHint(example.length, example)}</p>
    <p class="fault" id="number-fault" aria-live="polite"></p>
  </div>`
}

export interface AmountForm {
  readonly currency: string
  readonly typed: Readonly<Record<string, unknown>>
  /** Left out: in which currency. */
  readonly hint?: string
  /** It is why nothing was paid. */
  readonly isWrong?: boolean
}

/** The payer chooses the amount. */
export function amountField({ words }: Reader, { currency, typed, hint, isWrong }: AmountForm): Html {
  return html`<div class="${fieldClass(isWrong)}">
    <label for="amount">${words.chooseAmount}</label>
    <div class="typed">
      <input
        id="amount"
        name="Amount"
        inputmode="decimal"
        autocomplete="off"
        required
        maxlength="20"
        value="${textOf(typed['Amount'])}"
        aria-describedby="amount-hint"
        data-digits="${currencyExponent(currency) ?? 0}"
        ${isWrong === true && wrong}
      />
      <span aria-hidden="true">${signOf(currency)}</span>
    </div>
    <p class="hint" id="amount-hint">${hint ?? words.amountHint(signOf(currency))}</p>
  </div>`
}

/** What screen readers say of a field that was refused; the reason is in the alert of the page. */
const wrong = html`aria-invalid="true"`

function fieldClass(isWrong: boolean | undefined): string {
  return isWrong === true ? 'field is-wrong' : 'field'
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Why nothing was paid, in the payer's words. */
export function alert(problem: string | undefined): Html | false {
  return (
    problem !== undefined &&
    html`<div class="alert" role="alert">
      <p>${problem}</p>
    </div>`
  )
}

type FailureCode = keyof Words['failures']

/** Why a try to pay has failed: who is to be asked, and what is to be done, depends on the method. */
export function failureText(words: Words, code: FailureCode, isByCard: boolean): string {
  const ofCards: Readonly<Partial<Record<FailureCode, string>>> = words.cardFailures
  return (isByCard && ofCards[code]) || words.failures[code]
}

/** While the merchant is suspended. */
export function pausedPart(words: Words): Html {
  return html`<h2>${words.pausedTitle}</h2>
    <p>${words.problems.merchant}</p>`
}

interface Failed {
  readonly failure_code: FailureCode | null
  /** Null: by card. */
  readonly operator: string | null
  readonly reversal: 'paid_too_late' | 'taken_back' | null
}

/** Why the newest try has not paid. Whoever has paid in vain is not told that nothing was paid. */
export function whyNotPaid(words: Words, { failure_code, operator, reversal }: Failed): string | undefined {
  if (reversal === 'paid_too_late') return words.tooLate
  if (reversal === 'taken_back') return words.takenBack
  if (failure_code === null) return undefined
  return `${failureText(words, failure_code, operator === null)} ${words.notPaid}`
}

/** What screen readers pass over: the title beside it says it. */
export const doneSign = html`<svg
  class="sign"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  aria-hidden="true"
>
  <circle cx="12" cy="12" r="10" />
  <path d="m7 12.5 3.5 3.5L17 9" />
</svg>`

export function detailList(rows: readonly (readonly [string, string])[]): Html {
  return html`<dl>
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${unbroken(value)}</dd>`,
    )}
  </dl>`
}

interface Waiting {
  /** Where the page asks what has become of it. */
  readonly status: string
  /** The field of that answer, and what it says as long as nothing has. */
  readonly field: 'status' | 'payment_status'
  readonly shown: string
  /** Left out: for the approval of the payer. */
  readonly text?: string
  /** Where it goes on then. */
  readonly page: string
}

/** A page with it moves on by itself. */
export function waiting({ words }: Reader, { status, field, shown, page, text }: Waiting): Html {
  return html`<p
      class="wait"
      role="status"
      data-status="${status}"
      data-field="${field}"
      data-shown="${shown}"
      data-page="${page}"
    >
      ${text ?? words.waiting}
    </p>
    <noscript><a class="button second" href="${page}">${words.refresh}</a></noscript>`
}

/** For whoever finds nothing on the phone. */
export function noMessage({ words, language }: Reader, { code }: Operator): Html {
  const elsewhere = promptWordsOf(code, language)?.elsewhere ?? words.promptElsewhere
  return html`<details>
    <summary>${words.promptNothing}</summary>
    <p>${elsewhere} ${words.promptHelp}</p>
  </details>`
}

/** What to do on the phone, in the operator's words. */
export function phoneSteps({ words, language }: Reader, { code, name }: Operator, lastDigits: string): Html {
  const steps = promptWordsOf(code, language)?.steps ?? words.promptSteps(name)
  return html`<p>${words.promptLead(name, lastDigits)}</p>
    <ol class="steps">
      ${steps.map((step) => html`<li>${step}</li>`)}
    </ol>`
}

/** What is to be done where the operator or bank leads the payer. */
export function leadingOn({ words, language }: Reader, operator: string | undefined): string {
  return promptWordsOf(operator ?? '', language)?.goOn ?? words.goOnLead
}

/** Back to the merchant, where the page was opened from there. */
export function leaving({ words }: Reader, name: string, url: string | null): Html | false {
  return url !== null && html`<a class="button second" href="${url}">${words.back(name)}</a>`
}
