import { admitPayment } from '../../../../packages/contract/payments/eligibility.ts'
import { publicId } from '../../../../packages/contract/identity.ts'
import { requireRail } from '../../../../packages/contract/payments/rails.ts'
import { Refusal, refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import {
  base,
  choice,
  Country,
  KnownCountry,
  maybe,
  Metadata,
  Msisdn,
  nullable,
  record,
  Type,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import { invoice, type InvoiceCommands } from '../../../../packages/domain/invoices/invoice.ts'
import {
  Description,
  InvoiceResource,
  viewInvoice,
  type InvoiceMove,
} from '../../../../packages/domain/invoices/resource.ts'
import {
  amountLeft,
  isPayable,
  liveAttempt,
  type ExistingInvoice,
} from '../../../../packages/domain/invoices/state.ts'
import { plainPlan } from '../../../../packages/domain/ledger/plans.ts'
import { paymentIntent } from '../../../../packages/domain/payment-intents/payment-intent.ts'
import {
  ConfirmationRequest,
  PaymentIntentResource,
  viewPaymentIntent,
} from '../../../../packages/domain/payment-intents/resource.ts'
import type { CreatedIntent, PaymentIntent } from '../../../../packages/domain/payment-intents/state.ts'
import { paymentIntents } from '../../../../projections/payment-intents.ts'
import { currentState } from '../../kinds/current-state.ts'
import { activeMerchant } from '../hosted/checkout-terms.ts'
import { invoiceOf } from './invoices.ts'
import { confirmIntent, type Confirming } from '../payment-intents.ts'

const idempotencyKey = maybe(
  Type.String({ minLength: 1, maxLength: 64, description: 'The same as the header' }),
)

export const InvoicePayRequest = record({
  transactionCountry: maybe({
    ...Country,
    description: "Where it is paid; left out, the merchant's country",
  }),
  payerCountry: maybe({ ...KnownCountry, description: 'Where the payer is' }),
  railCountry: maybe({ ...KnownCountry, description: 'Where the operator is' }),
  description: maybe({ ...Description, description: "Of the payment; left out, the invoice's" }),
  metadata: maybe(Metadata),
  idempotencyKey,
})

const { card } = ConfirmationRequest.properties.payment_method.properties

const GivenMethod = record({
  type: choice('mobile_money', 'card'),
  mobileMoney: maybe(
    record(
      { country: Country, operator: Type.String({ minLength: 1, maxLength: 64 }), msisdn: Msisdn },
      { description: 'Where `type` is `mobile_money`' },
    ),
  ),
  card,
})

export const InvoiceConfirmRequest = record({
  paymentMethod: maybe({ ...GivenMethod, description: 'Required: how it is paid' }),
  returnUrl: ConfirmationRequest.properties.return_url,
  idempotencyKey,
})

export const InvoicePayment = record({
  ...base('invoice_payment', 'inv'),
  invoice: InvoiceResource,
  payment_intent: nullable({ ...PaymentIntentResource, description: 'The try to pay, where there is one' }),
  checkout_url: nullable(
    Type.String({ description: 'A page on which it can be paid; null once it is paid' }),
  ),
  paid: Type.Boolean({ description: 'Whether the whole invoice is paid' }),
})

export type InvoicePaymentView = Static<typeof InvoicePayment>
type Acting = Pick<Request, 'caller' | 'owner' | 'dependencies' | 'send'>

/** The payment intent for what is left: the one that waits to be paid, or else a new one. */
export async function payInvoice(
  request: Request<Static<typeof InvoicePayRequest>>,
): Promise<InvoicePaymentView> {
  const id = request.params['id']!
  const { transactionCountry: country, ...wish } = request.body
  await startPayment(request, id, { ...wish, country })
  return shownPayment(request, id)
}

/** The same, and confirms it. */
export async function confirmInvoice(
  request: Request<Static<typeof InvoiceConfirmRequest>>,
): Promise<InvoicePaymentView> {
  const id = request.params['id']!
  const { paymentMethod, returnUrl } = request.body
  if (!paymentMethod) refuseField('request_must_be_valid', '/paymentMethod', 'paymentMethod is required')
  const { type, mobileMoney, card } = paymentMethod
  const payment_method = { type, mobile_money: mobileMoney ?? null, card: card ?? null }
  const body = { payment_method, return_url: returnUrl ?? null }
  const countryAt = '/paymentMethod/mobileMoney/country'
  await confirmPayment(request, { id, country: mobileMoney?.country, countryAt, body })
  return shownPayment(request, id)
}

interface Confirmation extends Pick<Wish, 'countryAt'> {
  readonly id: string
  readonly country?: string | undefined
  readonly body: Confirming['body']
}

/** Pays what is left of an invoice by a method that the payer has chosen. */
export async function confirmPayment(request: Acting, { id, body, ...wish }: Confirmation): Promise<void> {
  const paymentIntentId = await startPayment(request, id, wish)
  const { caller, owner, dependencies } = request
  const send: Acting['send'] = (...order) => request.send(...order)
  const confirming = { body, caller, owner, dependencies, send }
  const intent = await confirmIntent(confirming, paymentIntentId).catch(spelledAsHere)
  if (intent.status === 'succeeded') await recordPayment(request, id, paymentIntentId, intent)
}

/** Fields are named as in this operation's body. */
function spelledAsHere(error: unknown): never {
  if (!(error instanceof Refusal) || !error.details.faults) throw error
  const faults = error.details.faults.map((fault) => {
    const pointer = fault.pointer.replace('/payment_method', '/paymentMethod')
    return { ...fault, pointer: pointer.replace('/mobile_money', '/mobileMoney') }
  })
  throw new Refusal(error.reason, { ...error.details, faults })
}

export interface Wish {
  /** Left out: that of the payment under way, or the merchant's. */
  readonly country?: string | null | undefined
  /** The field of the request that names it. */
  readonly countryAt?: string
  readonly payerCountry?: string | null | undefined
  readonly railCountry?: string | null | undefined
  readonly description?: string | null | undefined
  readonly metadata?: Readonly<Record<string, string>> | null | undefined
}

/** One try at a time: a new one is made only when the one before can no longer be paid. */
export async function startPayment(request: Acting, id: string, wish: Wish): Promise<string> {
  const { caller, dependencies } = request
  const before = await invoiceOf(request, id)
  const merchant = await activeMerchant(dependencies, caller.merchant)
  const country = wish.country ?? merchant.country
  // Before anything is canceled for it.
  if (isPayable(before)) {
    const { currency } = before
    const { countryAt = '/transactionCountry' } = wish
    const pointers = { country: countryAt, currency: '/currency', amount: '/amount' }
    admitPayment({ country, currency, amountMinor: amountLeft(before) }, pointers)
    requireRail(dependencies.rail, { livemode: caller.livemode, country })
  }
  // What was taken back is to be paid, too, though a try for the rest may wait already.
  const fits = ({ transactionCountry, amount }: CreatedIntent) =>
    amount === amountLeft(before) && (!wish.country || transactionCountry === wish.country)
  const ended = await endedAttempt(request, { id, invoice: before, fits })
  const start = { type: 'StartInvoicePayment', data: { ended } } as const
  const { state } = await request.send(invoice, id, start, { mustExist: true })
  await createIntent(request, { id, invoice: state as ExistingInvoice, wish: { ...wish, country } })
  return (state as ExistingInvoice).attempt!.paymentIntent
}

interface Asked {
  readonly id: string
  readonly invoice: ExistingInvoice
}

/** The intent of the newest try; what it is about was fixed when it began. */
async function createIntent(
  request: Acting,
  { id, invoice: { attempt, currency, customer, description }, wish }: Asked & { readonly wish: Wish },
): Promise<void> {
  const { paymentIntent: intentId, amount } = attempt!
  const merchant = await activeMerchant(request.dependencies, request.caller.merchant)
  const data = {
    amount,
    currency,
    transactionCountry: wish.country ?? merchant.country,
    payerCountry: wish.payerCountry ?? null,
    railCountry: wish.railCountry ?? null,
    description: wish.description ?? description,
    metadata: { ...wish.metadata },
    customer,
    purpose: { type: 'invoice', id } as const,
    plan: plainPlan(amount),
  }
  await request.send(paymentIntent, intentId, { type: 'CreateIntent', data })
}

/** The newest try's intent where it can no longer be paid; it is canceled where it does not fit. */
async function endedAttempt(
  request: Acting,
  { id, invoice: current, fits }: Asked & { readonly fits: (intent: CreatedIntent) => boolean },
): Promise<string | null> {
  const live = liveAttempt(current, null)
  const intent = live && (await intentOf(request, live.paymentIntent))
  if (!live || !intent) return null
  if (intent.status === 'succeeded') await recordPayment(request, id, live.paymentIntent, intent)
  if (intent.status === 'failed' || intent.status === 'canceled') return live.paymentIntent
  if (intent.status !== 'requires_payment_method' || fits(intent)) return null
  return (await cancelIntent(request, live.paymentIntent)) ? live.paymentIntent : null
}

/**
 * Makes the newest try unpayable, so that something else may settle the invoice. Refused while the payer is
 * about to pay.
 */
export async function endAttempt(
  request: Acting,
  id: string,
  current: ExistingInvoice,
): Promise<string | null> {
  const live = liveAttempt(current, null)
  if (!live) return null
  // A crash may have left it without an intent, which then is made to be canceled.
  if (!(await intentOf(request, live.paymentIntent)))
    await createIntent(request, { id, invoice: current, wish: {} })
  if (await cancelIntent(request, live.paymentIntent)) return live.paymentIntent
  return refuse('invoice_state_must_allow_it', {
    detail: 'A payment of this invoice is under way or was made',
  })
}

async function cancelIntent(request: Acting, id: string): Promise<boolean> {
  try {
    const cancel = { type: 'CancelIntent', data: {} } as const
    await request.send(paymentIntent, id, cancel, { mustExist: true })
    return true
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'intent_must_be_cancelable') throw error
    return (await intentOf(request, id))?.status === 'failed'
  }
}

/** As the policy does a moment later. */
async function recordPayment(
  request: Acting,
  id: string,
  paymentIntentId: string,
  { amount }: CreatedIntent,
): Promise<void> {
  const data = { amount, paymentIntent: paymentIntentId }
  await request.send(invoice, id, { type: 'PayInvoice', data }, { mustExist: true })
}

export async function prepareMove(
  request: Request<Static<typeof InvoiceMove>>,
): Promise<InvoiceCommands['MoveInvoice']> {
  const { status: to } = request.body
  const id = request.params['id']!
  const current = await invoiceOf(request, id)
  const settles = to === 'paid' || (to === 'void' && current.amountPaid === 0)
  return { to, ended: settles && isPayable(current) ? await endAttempt(request, id, current) : null }
}

/** Always current; undefined as long as it is about to be made. */
export async function intentOf(
  request: Pick<Request, 'owner' | 'dependencies'>,
  id: string,
): Promise<CreatedIntent | undefined> {
  const intent = (await currentState(request, paymentIntents, id)) as PaymentIntent | undefined
  return intent?.status === 'none' ? undefined : intent
}

export async function shownPayment(
  request: Pick<Request, 'owner' | 'dependencies'>,
  id: string,
): Promise<InvoicePaymentView> {
  const state = await invoiceOf(request, id)
  const { attempt, livemode } = state
  const intent = attempt && (await intentOf(request, attempt.paymentIntent))
  const shown = viewInvoice(id, state)!
  return {
    id: publicId('inv', id),
    object: 'invoice_payment',
    livemode,
    created: shown.created,
    invoice: shown,
    payment_intent: (attempt && intent && viewPaymentIntent(attempt.paymentIntent, intent)) || null,
    checkout_url: isPayable(state) ? state.url : null,
    paid: state.status === 'paid',
  }
}
