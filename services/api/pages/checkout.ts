import { operatorIn } from '../../../packages/contract/payments/catalog.ts'
import { publicId } from '../../../packages/contract/identity.ts'
import type { Shown, Visit } from '../../../packages/contract/lists/pages.ts'
import type { Refusal, RefusalName } from '../../../packages/contract/refusals.ts'
import type { ExistingSession } from '../../../packages/domain/checkout/checkout-session.ts'
import { merchant } from '../../../packages/domain/merchants/merchant.ts'
import { paymentLink } from '../../../packages/domain/payment-links/payment-link.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { HostedCheckoutView, ReceiptView } from '../../../packages/domain/checkout/resource.ts'
import type { PaymentIntent } from '../../../packages/domain/payment-intents/state.ts'
import { intentOf, sessionOf } from '../actions/checkout-sessions.ts'
import { checkoutReceipt, hostedCheckout, ownerOfSession } from '../actions/hosted/checkout.ts'
import { html, type Html } from '../docs/html.ts'
import { due, payForm, type FormState } from './checkout-form.ts'
import { frame, merchantOf, pageOf, readerOf, type Reader } from './layout.ts'
import { money, time, unbroken } from './money.ts'
import { isUnseen, notice, problemWords, refusedField } from './notices.ts'
import { detailList, doneSign, failureText, leadingOn, noMessage, phoneSteps, waiting } from './pay-parts.ts'

type Existing = Exclude<PaymentIntent, { status: 'none' }>

/** What the page knows beside what the API shows. */
interface Sight {
  readonly view: HostedCheckoutView
  readonly reader: Reader
  readonly session: ExistingSession
  readonly intent: Existing | undefined
  readonly receipt: ReceiptView | undefined
}

/** The page for the payer, at whatever point the payment is. */
export async function checkoutPage(view: HostedCheckoutView, visit: Visit): Promise<string> {
  const sight = await sightOf(view, visit)
  const { reader, intent, receipt } = sight
  const common = merchantOf(view)
  const framed = (title: string, content: Html, refreshSeconds?: number) =>
    frame(reader, { ...common, title, content, ...(refreshSeconds !== undefined && { refreshSeconds }) })
  const { words } = reader
  if (receipt) return framed(words.paidTitle, paid(sight, receipt))
  if (view.status === 'completed')
    return framed(words.paidBackTitle, ended(words.paidBackTitle, words.paidBackLead, sight))
  if (intent?.status === 'requires_action')
    return framed(words.goOnTitle(view.merchant.name), goOn(sight, intent.url, visit))
  if (view.payment_status === 'processing') return framed(words.promptTitle, prompt(sight), 5)
  if (view.status === 'canceled')
    return framed(words.canceledTitle, ended(words.canceledTitle, words.canceledLead, sight))
  if (view.status === 'expired')
    return framed(words.expiredTitle, ended(words.expiredTitle, words.expiredLead, sight))
  const hindrance = await hindranceOf(visit, sight)
  if (hindrance) {
    const [title, lead] = hindrance
    return framed(title, ended(title, isLate(intent) ? `${words.tooLate} ${lead}` : lead, sight))
  }
  const problem = intent?.status === 'failed' ? failureWords(reader, intent) : undefined
  const state: FormState = { view, reader, typed: {}, problem }
  return framed(titleOf(state), html`${due(state)} ${payForm(state)}`)
}

async function sightOf(view: HostedCheckoutView, visit: Visit): Promise<Sight> {
  const request = { ...visit, owner: await ownerOfSession(visit) }
  const session = await sessionOf(request, visit.params['sessionId']!)
  const intent = await intentOf(request, session)
  const receipt = intent?.status === 'succeeded' ? await checkoutReceipt(request) : undefined
  return { view, reader: readerOf(visit), session, intent, receipt }
}

/** Why nobody can pay an open session now, whatever is chosen: title and text. */
async function hindranceOf(
  { dependencies }: Visit,
  { view, session, reader: { words } }: Sight,
): Promise<readonly [string, string] | undefined> {
  const { store, executor } = dependencies
  const { name } = view.merchant
  const link = session.link === null ? undefined : (await executor.current(paymentLink, session.link)).state
  if (link?.status === 'completed') return [words.closedTitle, words.closedLead]
  const { status } = await readState(store, merchant, session.merchant)
  if (status === 'suspended') return [words.pausedTitle, words.problems.merchant]
  return view.payment_methods.length === 0 ? [words.pausedTitle, words.noMethod(name)] : undefined
}

/** The first thing that a screen reader says. */
function titleOf({ view, reader: { words }, problem }: FormState): string {
  const title = words.pageFor(view.merchant.name)
  return problem === undefined ? title : `${problem} ${title}`
}

/** Whoever approves too late has paid, and gets it back. */
function isLate(intent: Existing | undefined): boolean {
  return intent !== undefined && intent.late.length > 0
}

function failureWords({ words }: Reader, intent: Extract<Existing, { status: 'failed' }>): string {
  const { failure } = intent
  if (isLate(intent)) return `${words.tooLate} ${words.tryAgain}`
  const isByCard = intent.attempts.at(-1)?.method.type === 'card'
  return `${failureText(words, failure.code, isByCard)} ${words.notPaid} ${words.tryAgain}`
}

function paid({ view, reader }: Sight, receipt: ReceiptView): Html {
  const { words, language } = reader
  const { currency } = receipt
  const total = receipt.amount + (receipt.fee ?? 0)
  const name = view.merchant.name
  return html`${doneSign}
    <h1>${words.paidTitle}</h1>
    <p>${unbroken(words.paidLead(money(total, currency, language), name))}</p>
    ${view.success_url !== null && backLink(reader, name, view.success_url)}
    <h2>${words.receipt}</h2>
    ${detailList(receiptRows(reader, receipt, view.country))}
    <a class="button second" href="/checkout/session/${view.id}/receipt.pdf?lang=${language}"
      >${words.download}</a
    >`
}

/** The payer is taken back after a moment; the link is for those who do not wait. */
function backLink({ words }: Reader, name: string, url: string): Html {
  return html`<p class="soft going" hidden>${words.goingBack(name)}</p>
    <a class="button" href="${url}" data-forward="6000">${words.back(name)}</a>`
}

/** What a receipt says, on the page and on paper. */
export function receiptRows(
  { words, language }: Reader,
  receipt: ReceiptView,
  country: string,
): readonly [string, string][] {
  const { amount, currency, fee, payer } = receipt
  const sum = (minor: number) => money(minor, currency, language)
  const rows: readonly (readonly [string, string | null])[] = [
    [words.merchant, receipt.merchant.name],
    [words.purpose, receipt.description],
    [words.amount, fee === null ? null : sum(amount)],
    [words.fee, fee === null ? null : sum(fee)],
    [words.total, sum(amount + (fee ?? 0))],
    [words.refunded, receipt.refunded_amount === 0 ? null : sum(receipt.refunded_amount)],
    [words.method, operatorName(receipt.operator, country) ?? words.card],
    [words.phone, payer.phone],
    [words.payer, payer.name ?? payer.email],
    [words.paidOn, time(receipt.paid_at, language)],
    [words.receiptNumber, receipt.number],
  ]
  return rows.filter((row): row is [string, string] => row[1] !== null)
}

function operatorName(code: string | null, country: string): string | undefined {
  return code === null ? undefined : (operatorIn(country, code)?.name ?? code)
}

/** Tells what to do on the phone, in the operator's name, and goes on by itself. */
function prompt({ view, reader, intent }: Sight): Html {
  const { words, language } = reader
  const attempt = intent?.attempts.at(-1)
  const method = attempt?.method
  const here = `/checkout/session/${view.id}?lang=${language}`
  const status = `/api/checkout/${view.id}/status`
  const isMobile = method?.type === 'mobile_money'
  const named = isMobile ? method.operator : ''
  const operator = (isMobile && operatorIn(method.country, named)) || { code: named, name: named }
  return html`${due({ view, reader, typed: {} })}
    <h2>${words.promptTitle}</h2>
    ${isMobile && phoneSteps(reader, operator, method.msisdn.slice(-4))}
    ${waiting(reader, { status, field: 'payment_status', shown: 'processing', page: here })}
    ${isMobile && noMessage(reader, operator)}
    ${!view.livemode && attempt && play(reader, attempt.operationId)}`
}

/** In the sandbox nobody has the phone: whoever tests decides what the operator says. */
function play({ words, language }: Reader, operationId: string): Html {
  const address = `/sandbox/pay/${publicId('op', operationId)}?lang=${language}`
  return html`<a class="button second" href="${address}">${words.playPayer}</a>`
}

function goOn(sight: Sight, url: string, { query }: Visit): Html {
  const { view, reader, intent } = sight
  const { words, language } = reader
  const here = `/checkout/session/${view.id}`
  const method = intent?.attempts.at(-1)?.method
  const named = method?.type === 'mobile_money' ? operatorIn(method.country, method.operator) : undefined
  return html`${due({ view, reader, typed: {} })}
    <p>${leadingOn(reader, named?.code)}</p>
    <a class="button" href="${url}" ${query['go'] === '1' && html`data-forward="600"`}>${words.goOn}</a>
    <form method="post" action="${here}/retry?lang=${language}">
      <button class="quiet">${words.otherWay}</button>
    </form>`
}

function ended(title: string, lead: string, { view, reader }: Sight): Html {
  const back = view.cancel_url ?? (view.status === 'completed' ? view.success_url : null)
  return html`<h1>${title}</h1>
    <p>${lead}</p>
    ${back !== null && html`<a class="button" href="${back}">${reader.words.back(view.merchant.name)}</a>`}`
}

/** Whatever was pressed, the payer goes on at the page, which shows how things stand. */
export function backToCheckout(body: { readonly id: string }, visit: Visit): Shown {
  const { language } = readerOf(visit)
  const isLed = 'redirect_url' in body && body.redirect_url !== null
  return { location: `/checkout/session/${body.id}?lang=${language}${isLed ? '&go=1' : ''}` }
}

/** Refusals that the page itself explains, once it is shown again. */
const shownByThePage: readonly RefusalName[] = [
  'confirmation_must_be_the_only_one',
  'resource_must_not_have_changed',
  'checkout_session_must_be_open',
  'checkout_payment_must_not_be_under_way',
  'checkout_session_must_be_payable',
  'dependency_must_answer_in_time',
  'merchant_must_not_be_suspended',
]

/** What was typed stays, with the reason above it. */
export async function refusedCheckout(refusal: Refusal, visit: Visit): Promise<Shown> {
  const reader = readerOf(visit)
  const isPressed = pageOf(visit.path) !== visit.path
  if (refusal.reason === 'checkout_session_must_exist' || !isPressed || isUnseen(refusal))
    return notice(refusal, visit)
  const request = { ...visit, owner: await ownerOfSession(visit) }
  const view = await hostedCheckout(request)
  const isExplained = shownByThePage.includes(refusal.reason) || view.payment_methods.length === 0
  if (isExplained) return backToCheckout(view, visit)
  const problem = problemWords(refusal, reader)
  const state: FormState = { view, reader, typed: visit.form, problem, wrong: refusedField(refusal) }
  return frame(reader, {
    title: titleOf(state),
    ...merchantOf(view),
    content: html`${due(state)} ${payForm(state)}`,
  })
}
