import { decimalAmount } from '../../../packages/contract/locale/money-text.ts'
import type { Shown, Visit } from '../../../packages/contract/lists/pages.ts'
import type { Refusal } from '../../../packages/contract/refusals.ts'
import { ownerOfPortal } from '../actions/hosted/hosted-portal.ts'
import { hostedTopup, type HostedTopupView } from '../actions/hosted/hosted-topup.ts'
import { html, type Html } from '../docs/html.ts'
import { frame, merchantOf, pageOf, readerOf, type Reader } from './layout.ts'
import { money, unbroken } from './money.ts'
import { isUnseen, notice, problemWords, refusedField } from './notices.ts'
import { alert, doneSign, leaving, pausedPart, waiting, whyNotPaid } from './pay-parts.ts'
import { goOn, paymentForm, prompt, type PaymentSight, type Typed } from './payment-form.ts'
import { portalWords } from './portal-words.ts'
import { refusedPortal } from './portal.ts'
import { paidRows, receiptPart, type Rows } from './receipts.ts'

interface Sight extends PaymentSight {
  readonly view: HostedTopupView
}

/** The page on which a customer pays into the wallet. */
export function topupPage(view: HostedTopupView, visit: Visit): string {
  const sight = sightOf(view, visit)
  if (view.status === 'succeeded') return framed(sight, done(sight))
  // The operator has the money, and what is in the book is in the wallet.
  if (view.status === 'pending' && view.payment_status === 'paid') return framed(sight, booking(sight), 5)
  if (view.payment?.redirect_url) return framed(sight, html`${sum(sight)} ${goOn(sight)}`)
  if (view.payment_status === 'processing') return framed(sight, html`${sum(sight)} ${prompt(sight)}`, 5)
  if (view.status === 'failed' || view.payment?.failure_code) return framed(sight, failed(sight))
  return framed(sight, form(sight, { typed: {} }))
}

function sightOf(view: HostedTopupView, visit: Visit): Sight {
  return { view, paid: { ...view, left: view.amount }, reader: readerOf(visit), path: pageOf(visit.path) }
}

function framed({ view, reader, path }: Sight, content: Html, refreshSeconds?: number): string {
  const { name } = view.merchant
  const own = portalWords[reader.language]
  const title = own.topupTitle(name)
  const back = html`<a class="button second" href="${portalOf(path)}?lang=${reader.language}"
    >${own.toPortal}</a
  >`
  const whole = html`${content} ${leaving(reader, name, view.return_url) || back}`
  const refresh = refreshSeconds !== undefined && { refreshSeconds }
  return frame(reader, { title, ...merchantOf(view), content: whole, ...refresh })
}

/** The page is below that of the portal. */
function portalOf(path: string): string {
  return path.replace(/\/topups\/[^/]+$/, '')
}

function amountOf({ view, reader }: Sight): string {
  return money(view.amount, view.currency, reader.language)
}

function sum(sight: Sight): Html {
  return html`<h1 class="due">
    <span class="label">${portalWords[sight.reader.language].intoWallet}</span>
    <span class="sum">${unbroken(amountOf(sight))}</span>
  </h1>`
}

function form(sight: Sight, typed: Typed): Html {
  const { view, reader } = sight
  const isByCard = view.payment_methods.some(({ type }) => type === 'card')
  const later = isByCard && html`<p class="hint">${portalWords[reader.language].cardLater}</p>`
  return html`${sum(sight)} ${paymentForm(sight, typed)} ${later}`
}

function booking(sight: Sight): Html {
  const { reader, path } = sight
  const own = portalWords[reader.language]
  const page = `${path}${reader.here}`
  const text = own.bookingLead(amountOf(sight))
  return html`${doneSign}
    <h1>${own.bookingTitle}</h1>
    ${waiting(reader, { status: `${path}/status`, field: 'status', shown: 'pending', page, text })}`
}

function done(sight: Sight): Html {
  const { reader, view, path } = sight
  const rows = topupReceiptRows(reader, view)
  return html`${doneSign}
    <h1>${reader.words.paidTitle}</h1>
    <p>${unbroken(portalWords[reader.language].toppedUp(amountOf(sight), view.merchant.name))}</p>
    ${rows.length > 0 && receiptPart(reader, rows, path)}`
}

/** What the receipt of a top-up says, once it is paid. */
export function topupReceiptRows(reader: Reader, { receipt, currency, merchant }: HostedTopupView): Rows {
  if (!receipt) return []
  const { words, language } = reader
  const about: Rows = [
    [words.merchant, merchant.name],
    [words.purpose, portalWords[language].wallet],
  ]
  return paidRows(reader, { receipt, currency, about })
}

/** What has failed is over: trying again is another top-up of the same amount. */
function failed(sight: Sight): Html {
  const { view, reader, path } = sight
  const { words, here } = reader
  const why = view.payment ? whyNotPaid(words, view.payment) : undefined
  const said = html`${sum(sight)} ${alert(why ?? words.notPaid)}`
  if (!view.takes_payments) return html`${said} ${pausedPart(words)}`
  return html`${said}
    <form method="post" action="${portalOf(path)}/topups${here}" data-sending="${words.sending}">
      <input type="hidden" name="Amount" value="${typedAmount(sight)}" />
      <button>${words.again}</button>
    </form>`
}

/** As it could have been typed. */
function typedAmount({ view }: Sight): string {
  return decimalAmount(view.amount, view.currency)
}

/** From the page of the portal to that of the top-up. */
export function toTopup(view: HostedTopupView, visit: Visit): Shown {
  return { location: `${pageOf(visit.path)}/topups/${view.id}${readerOf(visit).here}` }
}

export function backToTopup(_: unknown, visit: Visit): Shown {
  return { location: `${pageOf(visit.path)}${readerOf(visit).here}` }
}

/** What was typed stays, with the reason above it. */
export async function refusedTopup(refusal: Refusal, visit: Visit): Promise<Shown> {
  if (refusal.reason === 'portal_token_must_be_valid') return refusedPortal(refusal, visit)
  const isPressed = visit.path !== pageOf(visit.path)
  if (refusal.reason === 'resource_must_exist' || !isPressed || isUnseen(refusal))
    return notice(refusal, visit)
  const view = await hostedTopup({ ...visit, owner: await ownerOfPortal(visit) })
  if (view.payment_status !== 'unpaid' || view.payment_methods.length === 0) return backToTopup(view, visit)
  const sight = sightOf(view, visit)
  const problem = problemWords(refusal, sight.reader)
  return framed(sight, form(sight, { typed: visit.form, problem, wrong: refusedField(refusal) }))
}
