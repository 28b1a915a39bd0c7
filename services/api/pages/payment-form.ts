import { operatorIn } from '../../../packages/contract/payments/catalog.ts'
import type { HostedInvoiceView } from '../actions/hosted/hosted-invoice.ts'
import { html, type Html } from '../docs/html.ts'
import type { Reader } from './layout.ts'
import { money, unbroken } from './money.ts'
import type { refusedField } from './notices.ts'
import { alert, leadingOn, noMessage, pausedPart, phoneFields, phoneSteps, waiting } from './pay-parts.ts'

/** What is paid on a page: an invoice or a top-up. */
export interface Payable extends Pick<
  HostedInvoiceView,
  'livemode' | 'merchant' | 'country' | 'currency' | 'takes_payments' | 'payment_methods' | 'payment'
> {
  /** What is left to be paid, in the smallest unit. */
  readonly left: number
}

export interface PaymentSight {
  readonly paid: Payable
  readonly reader: Reader
  /** Of the page. */
  readonly path: string
}

export interface Typed {
  /** What the payer had typed before it was refused. */
  readonly typed: Readonly<Record<string, unknown>>
  /** Why nothing was paid, in the payer's words. */
  readonly problem?: string | undefined
  /** The field of the form that it is about. */
  readonly wrong?: ReturnType<typeof refusedField>
}

export function paymentForm({ paid, reader, path }: PaymentSight, { typed, problem, wrong }: Typed): Html {
  const { words, language, here } = reader
  const mobile = paid.payment_methods.find(({ type }) => type === 'mobile_money')
  const card = paid.payment_methods.find(({ type }) => type === 'card')
  if (!paid.takes_payments) return html`${alert(problem)} ${pausedPart(words)}`
  if (!mobile && !card)
    return html`${alert(problem)}
      <p>${words.noMethod(paid.merchant.name)}</p>`
  const amount = money(paid.left, paid.currency, language)
  const given = { reader, typed, isWrong: wrong === 'PhoneNumber' }
  return html`${alert(problem)}
    <form
      class="pay"
      method="post"
      action="${path}/pay${here}"
      data-country="${paid.country}"
      data-sending="${words.sending}"
    >
      <input type="hidden" name="AtMost" value="${paid.left}" />
      ${mobile && phoneFields({ ...mobile, country: paid.country, ...given })}
      ${
        mobile &&
        html`<button name="PaymentMethod" value="mobile_money">${unbroken(words.pay(amount))}</button>`
      }
      ${mobile && card && html`<p class="or">${words.or}</p>`}
      ${
        card &&
        html`<button
          name="PaymentMethod"
          value="card"
          formnovalidate
          ${mobile !== undefined && html`class="second"`}
        >
          ${unbroken(words.payCard(amount))}
        </button>`
      }
    </form>`
}

/** Tells what to do on the phone, in the operator's name, and goes on by itself. */
export function prompt({ paid, reader, path }: PaymentSight): Html {
  const { words, language } = reader
  const { operator: code = null, phone = null, operation_id = null } = paid.payment ?? {}
  const operator = operatorIn(paid.country, code ?? '') ?? { code: code ?? '', name: code ?? '' }
  const here = `${path}${reader.here}`
  return html`<h2>${words.promptTitle}</h2>
    ${phone !== null && phoneSteps(reader, operator, phone)}
    ${waiting(reader, { status: `${path}/status`, field: 'payment_status', shown: 'processing', page: here })}
    ${phone !== null && noMessage(reader, operator)}
    ${
      !paid.livemode &&
      operation_id !== null &&
      html`<a class="button second" href="/sandbox/pay/${operation_id}?lang=${language}"
        >${words.playPayer}</a
      >`
    }`
}

export function goOn({ paid, reader }: PaymentSight): Html {
  const { words } = reader
  const { operator, redirect_url } = paid.payment!
  return html`<p>${leadingOn(reader, operatorIn(paid.country, operator ?? '')?.code)}</p>
    <a class="button" href="${redirect_url!}">${words.goOn}</a>`
}
