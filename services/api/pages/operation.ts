import { identity } from '../../../packages/contract/identity.ts'
import type { Visit } from '../../../packages/contract/lists/pages.ts'
import type { OperationView } from '../../../packages/domain/payment-intents/operation.ts'
import { payersPayment, type PayersPayment } from '../actions/operations.ts'
import { html, type Html } from '../docs/html.ts'
import { frame, merchantOf, readerOf, type Reader } from './layout.ts'
import { money, unbroken } from './money.ts'
import { waiting, whyNotPaid } from './pay-parts.ts'
import type { Words } from './words.ts'

const titles: Readonly<Record<OperationView['status'], keyof Words & `status${string}`>> = {
  pending: 'statusPending',
  succeeded: 'statusSucceeded',
  failed: 'statusFailed',
  canceled: 'statusCanceled',
}

/**
 * Spec, Return URL rules 1: where the payer stays when there is no return URL, and is forwarded from
 * otherwise.
 */
export async function operationPage(view: OperationView, visit: Visit): Promise<string> {
  const { id, redirect_url } = view
  const reader = readerOf(visit)
  const { words } = reader
  const payment = await paymentOf(view, visit)
  const title = words[titles[view.status]]
  const isOpen = view.status === 'pending'
  const label = isOpen ? words.goOn : words.back(payment?.merchant.name ?? '')
  return frame(reader, {
    title,
    ...(payment ? merchantOf(payment) : { isTest: !view.livemode }),
    ...(isOpen && { refreshSeconds: 5 }),
    ...(!isOpen && redirect_url !== null && { forward: redirect_url }),
    content: html`${payment && sumOf(payment, reader)}
      <h1>${title}</h1>
      ${said(view, payment, reader)} ${isOpen && waitingFor(view, visit, reader)}
      ${redirect_url !== null && html`<a class="button" href="${redirect_url}">${label}</a>`}
      <p class="hint">${id}</p>`,
  })
}

/** Payouts and refunds have no payer who looks at pages. */
async function paymentOf(view: OperationView, { dependencies }: Visit): Promise<PayersPayment | undefined> {
  if (view.type !== 'payment') return undefined
  return payersPayment(dependencies, identity(view.id, 'op')!, identity(view.resource.id, 'pi')!)
}

/** What is paid comes first, on each page about a payment. */
export function sumOf({ amount, currency }: PayersPayment, { words, language }: Reader): Html {
  return html`<p class="due">
    <span class="label">${words.amount}</span>
    <span class="sum">${unbroken(money(amount, currency, language))}</span>
  </p>`
}

function said(
  { message }: OperationView,
  payment: PayersPayment | undefined,
  { words }: Reader,
): Html | false {
  const why = payment && whyNotPaid(words, payment)
  if (why !== undefined) return html`<p>${why}</p>`
  return message !== null && html`<p>${message}</p>`
}

function waitingFor({ id, type }: OperationView, { path }: Visit, reader: Reader): Html {
  const { words, here } = reader
  const text = type === 'payment' ? words.waiting : words.underWay
  const [status, page] = [`/operations/status/${id}`, `${path}${here}`]
  return waiting(reader, { status, field: 'status', shown: 'pending', page, text })
}
