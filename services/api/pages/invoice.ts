import { isolated } from '../../../packages/contract/locale/direction.ts'
import type { Shown, Visit } from '../../../packages/contract/lists/pages.ts'
import type { Refusal } from '../../../packages/contract/refusals.ts'
import { hostedInvoice, ownerOfInvoice, type HostedInvoiceView } from '../actions/hosted/hosted-invoice.ts'
import { html, type Html } from '../docs/html.ts'
import { invoiceWords } from './invoice-words.ts'
import { frame, merchantOf, pageOf, readerOf, type Reader } from './layout.ts'
import { money, unbroken } from './money.ts'
import { isUnseen, notice, problemWords, refusedField } from './notices.ts'
import { detailList, doneSign, leaving, whyNotPaid } from './pay-parts.ts'
import { goOn, paymentForm, prompt, type PaymentSight, type Typed } from './payment-form.ts'
import { paidRows, receiptPart, type Rows } from './receipts.ts'
import type { Language } from './words.ts'

interface Sight {
  readonly view: HostedInvoiceView
  readonly reader: Reader
  /** Of the page. */
  readonly path: string
}

/** The page for the payer, at whatever point the payment is. */
export function invoicePage(view: HostedInvoiceView, visit: Visit): string {
  const sight = { view, reader: readerOf(visit), path: pageOf(visit.path) }
  const { words, language } = sight.reader
  const own = invoiceWords[language]
  if (view.payment_status === 'paid')
    return framed(sight, html`${paid(sight)} ${receiptIn(sight)} ${details(sight)}`)
  if (view.status === 'void')
    return framed(
      sight,
      html`<h1>${own.voidTitle}</h1>
        <p>${own.voidLead}</p>`,
    )
  if (view.payment?.redirect_url) return framed(sight, html`${due(sight)} ${goOn(paymentOf(sight))}`)
  if (view.payment_status === 'processing')
    return framed(sight, html`${due(sight)} ${prompt(paymentOf(sight))}`, 5)
  const why = view.payment ? whyNotPaid(words, view.payment) : undefined
  const problem = why !== undefined && view.takes_payments ? `${why} ${words.tryAgain}` : why
  return framed(sight, payable(sight, { typed: {}, problem }))
}

function framed({ view, reader }: Sight, content: Html, refreshSeconds?: number): string {
  const title = invoiceWords[reader.language].titled(view.number ?? '', view.merchant.name)
  const refresh = refreshSeconds !== undefined && { refreshSeconds }
  const whole = html`${content} ${leaving(reader, view.merchant.name, view.return_url)}`
  return frame(reader, { title, ...merchantOf(view), content: whole, ...refresh })
}

function paymentOf({ view, ...sight }: Sight): PaymentSight {
  return { ...sight, paid: { ...view, left: view.amount_left } }
}

function payable(sight: Sight, given: Typed): Html {
  return html`${due(sight)} ${paymentForm(paymentOf(sight), given)} ${otherCountries(sight)} ${details(sight)}`
}

/** For payers whose number is of another country. */
function otherCountries({ view, reader, path }: Sight): Html | false {
  const others = view.countries.filter((one) => one !== view.country)
  const { language } = reader
  const names = new Intl.DisplayNames([language], { type: 'region' })
  const back = new URLSearchParams(reader.here.slice(1)).get('back')
  const kept = back === null ? '' : `&back=${encodeURIComponent(back)}`
  const addressIn = (country: string) => `${path}?lang=${language}&country=${country}${kept}`
  const link = (country: string) =>
    html`<li><a href="${addressIn(country)}" data-in="${country}">${names.of(country)!}</a></li>`
  return (
    others.length > 0 &&
    html`<details>
      <summary>${invoiceWords[language].otherCountry}</summary>
      <ul>
        ${others.map(link)}
      </ul>
    </details>`
  )
}

/** What is left to be paid comes first. */
function due({ view, reader }: Sight): Html {
  const { words, language } = reader
  const own = invoiceWords[language]
  const day = dayText(view.due_date, language)
  return html`<h1 class="due">
      <span class="label">${words.amountDue}</span>
      <span class="sum">${unbroken(money(view.amount_left, view.currency, language))}</span>
    </h1>
    <p class="soft">${view.overdue ? own.overdue(day) : own.dueOn(day)}</p>`
}

function paid({ view, reader }: Sight): Html {
  const own = invoiceWords[reader.language]
  if (view.amount_due === 0)
    return html`<h1>${own.voidTitle}</h1>
      <p>${own.nothingLead}</p>`
  const amount = money(view.amount_due, view.currency, reader.language)
  return html`${doneSign}
    <h1>${own.paidTitle}</h1>
    <p>${unbroken(own.paidLead(amount, view.merchant.name))}</p>`
}

function receiptIn({ view, reader, path }: Sight): Html | false {
  const rows = invoiceReceiptRows(reader, view)
  return rows.length > 0 && receiptPart(reader, rows, path)
}

function details({ view, reader, path }: Sight): Html {
  const own = invoiceWords[reader.language]
  return html`<h2>${own.invoice} ${view.number ?? ''}</h2>
    ${detailList(invoiceRows(reader, view))}
    <a class="button second" href="${path}/invoice.pdf?lang=${reader.language}">${own.save}</a>`
}

/** What an invoice says, on the page and on paper. */
export function invoiceRows({ language }: Reader, view: HostedInvoiceView): Rows {
  const own = invoiceWords[language]
  const sum = (minor: number) => money(minor, view.currency, language)
  const isPart = view.amount_paid > 0 && view.amount_left > 0
  const rows: readonly (readonly [string, string | null])[] = [
    [own.number, view.number],
    [own.from, view.merchant.name],
    [own.for, view.customer_name],
    [own.issued, dayText(view.issued_on, language)],
    [own.due, dayText(view.due_date, language)],
    ...view.lines.map(({ description, quantity, amount }) => {
      const what = description ?? own.line
      return [quantity === 1 ? what : `${isolated(what)} × ${quantity}`, sum(amount)] as const
    }),
    [own.total, sum(view.amount_due)],
    [own.alreadyPaid, isPart ? sum(view.amount_paid) : null],
    [own.left, isPart ? sum(view.amount_left) : null],
  ]
  return told(rows)
}

/** What the receipt of a paid invoice says; nothing where nothing was to be paid. */
export function invoiceReceiptRows(reader: Reader, view: HostedInvoiceView): Rows {
  const own = invoiceWords[reader.language]
  if (!view.receipt) return []
  const about: readonly (readonly [string, string | null])[] = [
    [reader.words.merchant, view.merchant.name],
    [own.invoice, view.number],
    [reader.words.payer, view.customer_name],
  ]
  return paidRows(reader, { receipt: view.receipt, currency: view.currency, about: told(about) })
}

function told(rows: readonly (readonly [string, string | null])[]): Rows {
  return rows.filter((row): row is [string, string] => row[1] !== null)
}

export function dayText(day: string, language: Language): string {
  const locale = language === 'fr' ? 'fr-FR' : 'en-GB'
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(day))
}

/** Whatever was pressed, the payer goes on at the page, which shows how things stand. */
export function backToInvoice(_: unknown, visit: Visit): Shown {
  return { location: `${pageOf(visit.path)}${readerOf(visit).here}` }
}

/** What was typed stays, with the reason above it. */
export async function refusedInvoice(refusal: Refusal, visit: Visit): Promise<Shown> {
  const isPressed = visit.path !== pageOf(visit.path)
  if (refusal.reason === 'resource_must_exist' || !isPressed || isUnseen(refusal))
    return notice(refusal, visit)
  const view = await hostedInvoice({ ...visit, owner: await ownerOfInvoice(visit) })
  if (view.payment_status !== 'unpaid' || view.payment_methods.length === 0) return backToInvoice(view, visit)
  const reader = readerOf(visit)
  const sight = { view, reader, path: pageOf(visit.path) }
  const problem = problemWords(refusal, reader)
  return framed(sight, payable(sight, { typed: visit.form, problem, wrong: refusedField(refusal) }))
}
