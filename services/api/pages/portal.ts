import { isolated } from '../../../packages/contract/locale/direction.ts'
import type { Shown, Visit } from '../../../packages/contract/lists/pages.ts'
import type { Refusal } from '../../../packages/contract/refusals.ts'
import {
  dayOfPayment,
  hostedPortal,
  ownerOfPortal,
  type HostedPortalView,
} from '../actions/hosted/hosted-portal.ts'
import { methodsFor, usualCountry } from '../actions/hosted/hosted-payment.ts'
import { html, type Html } from '../docs/html.ts'
import { dayText } from './invoice.ts'
import { invoiceWords } from './invoice-words.ts'
import { frame, merchantOf, pageOf, readerOf, type Reader } from './layout.ts'
import { money, unbroken } from './money.ts'
import { isUnseen, notice, problemWords, refusedField } from './notices.ts'
import { alert, amountField, leaving, pausedPart } from './pay-parts.ts'
import { portalWords, type PortalWords } from './portal-words.ts'

interface Sight {
  readonly view: HostedPortalView
  readonly reader: Reader
  /** Of the page. */
  readonly path: string
  readonly own: PortalWords
  readonly refused: Refused | undefined
  readonly dependencies: Visit['dependencies']
}

interface Refused {
  /** In the customer's words. */
  readonly problem: string
  /** What was typed. */
  readonly form: Visit['form']
  /** The field of it that it is about. */
  readonly wrong: ReturnType<typeof refusedField>
}

type Bill = HostedPortalView['due'][number]
type Subscribed = HostedPortalView['subscriptions'][number]
type Paid = HostedPortalView['payments'][number]

/** What a customer sees and does. */
export function portalPage(view: HostedPortalView, visit: Visit): string {
  return paged(view, visit)
}

function paged(view: HostedPortalView, visit: Visit, refused?: Refused): string {
  const reader = readerOf(visit)
  const own = portalWords[reader.language]
  const { name } = view.merchant
  const title = own.title(name)
  const { dependencies } = visit
  const sight = { view, reader, path: pageOf(visit.path), own, refused, dependencies }
  const content = html`<h1>${title}</h1>
    ${view.email !== null && html`<p class="soft">${view.email}</p>`} ${alert(refused?.problem)}
    ${!view.takes_payments && pausedPart(reader.words)} ${sections(sight)}
    ${leaving(reader, name, view.return_url)}`
  return frame(reader, { title, ...merchantOf(view), content })
}

function sections(sight: Sight): readonly Html[] {
  const { view, own } = sight
  const [bills, old] = [
    view.due.map((one) => due(sight, one)),
    view.settled.map((one) => settled(sight, one)),
  ]
  const running = view.subscriptions.map((one) => subscribed(sight, one))
  const payments = view.payments.map((one) => paid(sight, one))
  return [
    ...(view.permissions.includes('invoices') ? [section(own.due, bills, own.nothingDue)] : []),
    ...(view.permissions.includes('subscriptions')
      ? [section(own.subscriptions, running, own.noSubscriptions)]
      : []),
    ...(view.permissions.includes('wallet') ? [wallet(sight)] : []),
    ...(old.length > 0 ? [section(own.settled, old, '')] : []),
    ...(view.permissions.includes('payments') ? [section(own.payments, payments, own.noPayments)] : []),
  ]
}

function section(title: string, items: readonly Html[], nothing: string): Html {
  return html`<h2>${title}</h2>
    ${
      items.length === 0
        ? html`<p class="soft">${nothing}</p>`
        : html`<ul class="items">
            ${items}
          </ul>`
    }`
}

interface Item {
  readonly what: string
  readonly amount: string
  readonly note: string
  readonly more?: Html
}

function item({ what, amount, note, more }: Item): Html {
  return html`<li>
    <span class="what">${what}</span> <span class="much">${unbroken(amount)}</span>
    ${note !== '' && html`<span class="soft">${unbroken(note)}</span>`} ${more}
  </li>`
}

function due(sight: Sight, bill: Bill): Html {
  const { view, reader, own, dependencies } = sight
  const { livemode, country } = view
  const { language, words } = reader
  const invoice = invoiceWords[language]
  const [leftMinor, currency] = [bill.amount_due - bill.amount_paid, bill.currency.toUpperCase()]
  const left = money(leftMinor, currency, language)
  const market = {
    livemode,
    currency,
    country: usualCountry(dependencies, { livemode, country, currency }, leftMinor),
  }
  const isUnserved = view.takes_payments && methodsFor(dependencies, market, leftMinor).length === 0
  const canBePaid = view.takes_payments && !isUnserved
  const action = canBePaid ? words.pay(left) : own.open
  const day = dayText(bill.due_date!, language)
  return item({
    what: bill.description ?? bill.lines[0]?.description ?? `${invoice.invoice} ${bill.number ?? ''}`,
    amount: left,
    note: bill.overdue ? invoice.overdue(day) : invoice.dueOn(day),
    more: html`${isUnserved && html`<span class="soft">${words.noMethod(view.merchant.name)}</span>`}
      <a
        class="${canBePaid ? 'button' : 'button second'}"
        href="${pathOf(bill, language)}"
        aria-label="${named(bill, action)}"
        >${unbroken(action)}</a
      >
      ${walletForm(sight, bill)}`,
  })
}

/** As far as the wallet goes; the button says how far. */
function walletForm({ view, reader, own, path }: Sight, bill: Bill): Html | false {
  const owed = bill.currency.toUpperCase()
  const spendable = view.wallet.find(({ currency }) => currency === owed)?.spendable ?? 0
  if (spendable <= 0 || !view.takes_payments) return false
  const { language, words } = reader
  const left = bill.amount_due - bill.amount_paid
  const amount = Math.min(spendable, left)
  const text = own.payByWallet(money(amount, owed, language))
  return html`<form
    method="post"
    action="${path}/invoices/${bill.id}/wallet?lang=${language}"
    data-sending="${words.sending}"
  >
    <input type="hidden" name="AtMost" value="${amount}" />
    <input type="hidden" name="Left" value="${left}" />
    <button class="second" aria-label="${named(bill, text)}">${unbroken(text)}</button>
  </form>`
}

function settled({ reader, own }: Sight, bill: Bill): Html {
  const { language } = reader
  return item({
    what: bill.description ?? bill.lines[0]?.description ?? invoiceWords[language].invoice,
    amount: money(bill.amount_due, bill.currency.toUpperCase(), language),
    note: bill.number ?? '',
    more: html`<a href="${pathOf(bill, language)}" aria-label="${named(bill, own.open)}">${own.open}</a>`,
  })
}

/** Several links that look the same are told apart by those who hear them. */
function named({ number }: Bill, text: string): string {
  return number === null ? text : `${text} (${number})`
}

/** On this site, by whatever name it is reached. */
function pathOf({ hosted_invoice_url }: Bill, language: string): string {
  return `${new URL(hosted_invoice_url).pathname}?lang=${language}`
}

function subscribed(sight: Sight, one: Subscribed): Html {
  const { reader, own } = sight
  const { language } = reader
  const cost = own.each[one.interval](money(one.amount, one.currency, language))
  return item({
    what: one.names.map(isolated).join(', ') || own.subscription,
    amount: cost,
    note: standing(sight, one),
    ...(sight.view.takes_payments && isCancelable(one) && { more: cancelForm(sight, one) }),
  })
}

function isCancelable({ status, cancel_at_period_end }: Subscribed): boolean {
  return !cancel_at_period_end && status !== 'canceled' && status !== 'unpaid'
}

function standing({ reader, own }: Sight, one: Subscribed): string {
  const { status, begins_on, ends_on, cancel_at_period_end } = one
  const day = dayText(ends_on, reader.language)
  if (status === 'canceled') return own.over
  if (status === 'unpaid') return own.paused
  const late = status === 'past_due' ? `${own.late}. ` : ''
  if (begins_on !== null) {
    const first = dayText(begins_on, reader.language)
    return late + (cancel_at_period_end ? own.beginsAndEnds(first, day) : own.begins(first))
  }
  if (cancel_at_period_end) return late + own.ends(day)
  return status === 'trialing' ? own.trial(day) : late + own.renews(day)
}

/** In two steps, so that nobody cancels by a slip of the thumb. */
function cancelForm({ reader, own, path }: Sight, { id, ends_on }: Subscribed): Html {
  const { language, words } = reader
  return html`<details>
    <summary>${own.cancel}</summary>
    <p>${own.cancelLead(dayText(ends_on, language))}</p>
    <form
      method="post"
      action="${path}/subscriptions/${id}/cancel?lang=${language}"
      data-sending="${words.sending}"
    >
      <button class="second">${own.cancelNow}</button>
    </form>
  </details>`
}

function paid({ reader, own }: Sight, one: Paid): Html {
  const { language } = reader
  const day = dayText(dayOfPayment(one), language)
  const back = one.refunded_amount > 0 && money(one.refunded_amount, one.currency, language)
  return item({
    what: one.description ?? own.payment,
    amount: money(one.amount, one.currency, language),
    note: back ? `${day}, ${back} ${own.refunded}` : day,
  })
}

function wallet(sight: Sight): Html {
  const { view, reader, own } = sight
  const items = view.wallet.map(({ currency, amount }) =>
    item({ what: own.balance, amount: money(amount, currency, reader.language), note: '' }),
  )
  return html`${section(own.wallet, items, own.nothingInWallet)}
  ${view.topup_currency !== null && topupForm(sight, view.topup_currency)}`
}

/** The amount first; how it is paid is chosen on the next page. */
function topupForm({ reader, own, path, refused }: Sight, currency: string): Html {
  const { language, words } = reader
  const isOpen = refused?.form['Amount'] !== undefined
  return html`<details ${isOpen && html`open`}>
    <summary>${own.topup}</summary>
    <form method="post" action="${path}/topups?lang=${language}" data-sending="${words.sending}">
      ${amountField(reader, { currency, typed: refused?.form ?? {}, isWrong: refused?.wrong === 'Amount' })}
      <button>${own.topupNow}</button>
    </form>
  </details>`
}

/** Why what was pressed was not done. */
function problemOf(refusal: Refusal, visit: Visit, { merchant, topup_currency }: HostedPortalView): string {
  const reader = readerOf(visit)
  const own = portalWords[reader.language]
  // There is no other way on this page to choose.
  const isTopup = visit.path.endsWith('/topups')
  const isUnserved =
    refusal.reason === 'live_provider_must_be_configured' || (isTopup && topup_currency === null)
  const why = isUnserved ? reader.words.noMethod(merchant.name) : problemWords(refusal, reader)
  if (isTopup) return `${own.topupFailed} ${why}`
  if (visit.path.endsWith('/cancel')) return own.cancelFailed
  return refusal.reason === 'wallet_must_cover_the_amount' ? own.walletEmpty : own.walletFailed
}

export function backToPortal(_: unknown, visit: Visit): Shown {
  return { location: `${pageOf(visit.path)}?lang=${readerOf(visit).language}` }
}

/** A portal that is over says so; what could not be done is said above the page. */
export async function refusedPortal(refusal: Refusal, visit: Visit): Promise<Shown> {
  const reader = readerOf(visit)
  const { language } = reader
  const own = portalWords[language]
  if (refusal.reason === 'portal_token_must_be_valid') {
    const content = html`<h1>${own.closedTitle}</h1>
      <p>${own.closedLead}</p>`
    return frame(reader, { title: own.closedTitle, content })
  }
  const isPressed = visit.path !== pageOf(visit.path)
  if (refusal.reason === 'resource_must_exist' || !isPressed || isUnseen(refusal))
    return notice(refusal, visit)
  const view = await hostedPortal({ ...visit, owner: await ownerOfPortal(visit) })
  const problem = problemOf(refusal, visit, view)
  return paged(view, visit, { problem, form: visit.form, wrong: refusedField(refusal) })
}
