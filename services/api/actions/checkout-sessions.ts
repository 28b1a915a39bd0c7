import { givenMetadata } from '../../../packages/contract/metadata.ts'
import type { MethodType } from '../../../packages/contract/payments/payment-methods.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import { choice, Country, maybe, record, Type, type Static } from '../../../packages/contract/vocabulary.ts'
import type {
  Attempt,
  CheckoutSession,
  CheckoutSessionCommands,
  ExistingSession,
} from '../../../packages/domain/checkout/checkout-session.ts'
import {
  isReturnUrl,
  type CheckoutSessionRequest,
  type PaymentStatus,
} from '../../../packages/domain/checkout/resource.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import { isLocked, type PaymentIntent } from '../../../packages/domain/payment-intents/state.ts'
import type { Outcome } from '../../../packages/kernel/execution/options.ts'
import { checkoutSessions } from '../../../projections/checkout.ts'
import { paymentIntents } from '../../../projections/payment-intents.ts'
import { intentOfAttempt } from '../../composition/books/checkout-attempts.ts'
import { currentState } from '../kinds/current-state.ts'
import { admittedTerms, linkIdOf, linkPointer, openLink, payerFee } from './hosted/checkout-terms.ts'
import { findOrCreateCustomer } from './billing/customers.ts'
import { quote, type FeeQuoteResource } from './fees.ts'

type RequestPart = Pick<Request, 'owner' | 'dependencies'>
type Opening = Request<Static<typeof CheckoutSessionRequest>>

/** The customer is found, or made, before the session is. */
export async function prepareSession(request: Opening): Promise<CheckoutSessionCommands['OpenSession']> {
  const { body, dependencies } = request
  const offer = await offerOf(request)
  const { customerEmail: email = null, customerPhone: phone = null, successUrl, cancelUrl } = body
  return {
    ...offer,
    customer: await findOrCreateCustomer(request, { email, phone, currency: offer.currency }),
    email,
    phone,
    successUrl: returnUrlAt('/successUrl', successUrl),
    cancelUrl: returnUrlAt('/cancelUrl', cancelUrl),
    metadata: admittedMetadata(body.metadata ?? {}),
    pages: `${dependencies.baseUrl}/checkout/session`,
    // What the payer pays on top depends on how the payer pays.
    attaches: !body.deferPaymentIntentCreation && offer.amount !== null && offer.feeMode === 'merchant_pays',
  }
}

/** A session that is not deferred shows an intent, which then is there. */
export async function createFirstAttempt(
  request: Pick<Request, 'send'>,
  { id, state }: Outcome<CheckoutSession>,
): Promise<void> {
  if (state.status === 'none' || !state.attempt) return
  await createAttempt(request, id, { ...state, attempt: state.attempt })
}

/** What the payer is offered: a link's terms, or those of the request. */
async function offerOf(request: Opening) {
  const { body } = request
  const linkId = linkIdOf(body)
  const link = linkId === undefined ? undefined : await openLink(request, linkId, linkPointer(body))
  for (const name of ['amount', 'currency', 'country'] as const) {
    const [asked, own] = [body[name], link?.[name]]
    const isOpen = asked === undefined || asked === null || own === undefined || own === null
    if (!isOpen && asked !== own) {
      const message = `${name} is "${asked}", but "${own}" by the link; leave it out`
      refuseField('checkout_amount_must_be_known', `/${name}`, message)
    }
  }
  const amount = link ? (link.amount ?? body.amount ?? null) : (body.amount ?? null)
  if (amount === null && !link)
    refuseField('checkout_amount_must_be_known', '/amount', 'amount is required without a link')
  const { currency, country, paymentMethodTypes = null } = body
  const given = link
    ? {
        currency: link.currency,
        country: link.country,
        paymentMethodTypes: paymentMethodTypes ?? link.methods,
      }
    : { currency, country, paymentMethodTypes }
  const { feeMode = 'merchant_pays', description = null } = link ?? {}
  const terms = await admittedTerms(request, given, { amount, feeMode })
  mustBeOfLink(terms.methods, link?.methods)
  return { ...terms, feeMode, description, link: linkId ?? null }
}

function mustBeOfLink(asked: readonly MethodType[], offered: readonly MethodType[] | undefined): void {
  const other = asked.find((type) => offered && !offered.includes(type))
  if (other === undefined) return
  const message = `the link does not offer ${other}; one of ${offered!.join(', ')}`
  refuseField('method_must_be_offered', '/paymentMethodTypes', message)
}

/** Inferred: the most that an event carries of what only its sender understands. */
const metadataLengthMax = 16_000

function admittedMetadata(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { length } = JSON.stringify(given)
  if (length > metadataLengthMax) {
    const message = `metadata has ${length} characters, at most ${metadataLengthMax} are kept`
    refuseField('request_must_be_valid', '/metadata', message)
  }
  return givenMetadata(given)
}

function returnUrlAt(pointer: string, url: string | null | undefined): string | null {
  if (!url) return null
  if (!isReturnUrl(url)) refuseField('request_must_be_valid', pointer, `"${url}" is not a web address`)
  return url
}

/** Makes the intent of the newest try to pay, unless it is there. */
export async function createAttempt(
  request: Pick<Request, 'send'>,
  session: string,
  state: ExistingSession & { readonly attempt: Attempt },
): Promise<PaymentIntent> {
  const { id, command } = intentOfAttempt(session, state)
  return (await request.send(paymentIntent, id, command)).state
}

/** How the newest try to pay stands. */
export async function paymentOf(request: RequestPart, state: CheckoutSession): Promise<PaymentStatus> {
  if (state.status === 'none') return 'unpaid'
  return paymentStatusOf(state, await intentOf(request, state))
}

/** Always current. */
export async function sessionOf(request: RequestPart, id: string): Promise<ExistingSession> {
  const state = (await currentState(request, checkoutSessions, id)) as CheckoutSession | undefined
  return !state || state.status === 'none' ? refuse('resource_must_exist') : state
}

export async function intentOf(
  request: RequestPart,
  { attempt }: ExistingSession,
): Promise<Exclude<PaymentIntent, { status: 'none' }> | undefined> {
  if (!attempt) return undefined
  const intent = (await currentState(request, paymentIntents, attempt.paymentIntent)) as
    PaymentIntent | undefined
  return intent?.status === 'none' ? undefined : intent
}

export function paymentStatusOf(
  { paidBy }: ExistingSession,
  intent: PaymentIntent | undefined,
): PaymentStatus {
  if (!intent || intent.status === 'none') return paidBy === null ? 'unpaid' : 'paid'
  if (intent.status === 'succeeded') return 'paid'
  const isBegun = intent.status === 'processing' || intent.status === 'requires_action' || isLocked(intent)
  return isBegun ? 'processing' : 'unpaid'
}

/** Whether it still waits for a payment. */
export function isPayable(
  { owner, dependencies }: RequestPart,
  { status, expiresAt }: ExistingSession,
): boolean {
  return status === 'open' && Date.parse(expiresAt) > dependencies.clock(owner).getTime()
}

export const SessionFeeRequest = record({
  payment_method_type: maybe(choice('mobile_money', 'card')),
  operator: maybe(Type.String({ maxLength: 64 })),
  country: maybe(Country),
})

/** The same as the general quote, with the terms of the session. */
export async function quoteSession(
  request: Request<Static<typeof SessionFeeRequest>>,
): Promise<Static<typeof FeeQuoteResource>> {
  const { amount, currency, country, feeMode, methods } = await sessionOf(request, request.params['id']!)
  const { body } = request
  const type = body.payment_method_type ?? 'mobile_money'
  if (!methods.includes(type)) {
    const message = `${type} is not offered; one of ${methods.join(', ')}`
    refuseField('method_must_be_offered', '/payment_method_type', message)
  }
  if (amount === null) refuse('checkout_amount_must_be_known', { detail: 'The payer chooses the amount' })
  const { operator = null, country: other } = body
  if (other && other !== country) {
    const message = `country is "${other}", but the session is paid in ${country}`
    refuseField('payment_must_be_eligible', '/country', message)
  }
  const asked = { amount, currency, country, payment_method_type: type, operator }
  return quote({ ...request, body: { ...asked, operation: 'payment', fee_mode: feeMode } })
}

interface Chosen {
  readonly amount: number
  readonly type: MethodType
  readonly operator?: string | undefined
}

/** What the payer of a session pays on top. */
export function payerFeeOf(
  { owner, dependencies }: RequestPart,
  { merchant, currency, country, feeMode }: ExistingSession,
  chosen: Chosen,
): number {
  return payerFee({ merchant, currency, country, feeMode, ...chosen }, dependencies.clock(owner))
}
