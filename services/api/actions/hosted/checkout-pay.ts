import { admitPaymentMethod } from '../../../../packages/contract/payments/eligibility.ts'
import { publicId } from '../../../../packages/contract/identity.ts'
import { minorAmount, spelledAmount } from '../../../../packages/contract/locale/money-text.ts'
import { choiceOf, requireRail } from '../../../../packages/contract/payments/rails.ts'
import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { hostedCardToken } from '../../../../packages/contract/payments/sandbox.ts'
import {
  AmountMinor,
  base,
  Email,
  maybe,
  Msisdn,
  nameText,
  nullable,
  record,
  Type,
  unixSeconds,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import {
  checkoutSession,
  type ExistingSession,
} from '../../../../packages/domain/checkout/checkout-session.ts'
import { filledReturnUrl } from '../../../../packages/domain/checkout/resource.ts'
import {
  ConfirmationRequest,
  PaymentIntentResource,
  viewPaymentIntent,
} from '../../../../packages/domain/payment-intents/resource.ts'
import {
  isLocked,
  type Attempt,
  type PaymentIntent,
} from '../../../../packages/domain/payment-intents/state.ts'
import type { RailMethod } from '../../../../packages/kernel/ports/rails.ts'
import { reserveLink } from './checkout-links.ts'
import {
  createAttempt,
  intentOf,
  isPayable,
  payerFeeOf,
  paymentStatusOf,
  sessionOf,
} from '../checkout-sessions.ts'
import { activeMerchant } from './checkout-terms.ts'
import { endAttempt, isSameSession } from './checkout.ts'
import { internationalNumber } from './hosted-payment.ts'
import { findOrCreateCustomer } from '../billing/customers.ts'
import { confirmIntent } from '../payment-intents.ts'
import { orWhatIsUnderWay } from './under-way.ts'

const { payment_method, return_url } = ConfirmationRequest.properties

export const CheckoutPayRequest = record({
  session_id: maybe(Type.String({ maxLength: 64, description: 'The same as in the path' })),
  return_url,
  payment_method: maybe(payment_method),
  collected: maybe(
    record({
      email: maybe(Email),
      phone: maybe(Msisdn),
      name: maybe(nameText(256, 'Of the payer')),
      amount: maybe({ ...AmountMinor, description: 'Where the payer chooses it' }),
    }),
  ),
})

/** The form of our page, with the field names of the specification. */
export const CheckoutFormRequest = record({
  PaymentMethod: maybe(Type.String({ maxLength: 64, description: '`mobile_money` or `card`' })),
  Operator: maybe(Type.String({ maxLength: 64 })),
  PhoneNumber: maybe(
    Type.String({ maxLength: 32, description: 'As people write it: with or without the country code' }),
  ),
  Amount: maybe(
    Type.String({ maxLength: 20, description: 'Where the payer chooses it, as people write it: `2 500`' }),
  ),
})

const { status, operation_id, next_action } = PaymentIntentResource.properties

export const CheckoutPayment = record({
  ...base('checkout_payment', 'cs'),
  payment_intent: Type.String(),
  status,
  operation_id,
  next_action,
  redirect_url: nullable(Type.String({ description: 'Where the payer goes on, if anywhere' })),
})

export type CheckoutPaymentView = Static<typeof CheckoutPayment>
type PayRequest = Static<typeof CheckoutPayRequest>
type GivenMethod = Static<typeof payment_method>
/** What the action needs of a request, whatever its body was. */
type Paying = Pick<Request, 'caller' | 'owner' | 'dependencies' | 'params' | 'send'>

export async function payCheckout(request: Request<PayRequest>): Promise<CheckoutPaymentView> {
  const { body, params } = request
  if (!isSameSession(params['sessionId']!, body.session_id))
    refuseField('request_must_be_valid', '/session_id', 'session_id is not the session of the path')
  if (!body.payment_method)
    refuseField('request_must_be_valid', '/payment_method', 'payment_method is required')
  return pay(request, { ...body, payment_method: body.payment_method })
}

export async function payCheckoutForm(
  request: Request<Static<typeof CheckoutFormRequest>>,
): Promise<CheckoutPaymentView> {
  const session = await sessionOf(request, request.params['sessionId']!)
  const { PaymentMethod: type, Operator: operator, PhoneNumber: number, Amount: amount } = request.body
  if (type === 'card') {
    const payment_method = { type, card: { token: hostedCardToken } } as const
    return pay(request, { payment_method, collected: amountOf(session, amount) })
  }
  if (type !== 'mobile_money') {
    const message = 'PaymentMethod must be mobile_money or card'
    return refuseField('request_must_be_valid', '/PaymentMethod', message)
  }
  if (!operator) refuseField('request_must_be_valid', '/Operator', 'Operator is required')
  if (!number) refuseField('request_must_be_valid', '/PhoneNumber', 'PhoneNumber is required')
  const { country } = session
  const mobile_money = { country, operator, msisdn: internationalNumber(country, number) }
  return pay(request, { payment_method: { type, mobile_money }, collected: amountOf(session, amount) })
}

/** `5 000` and `12,50`, in the smallest unit. What is no amount is refused. */
function amountOf(session: ExistingSession, text: string | null | undefined) {
  if (session.amount !== null || !text) return null
  const amount = minorAmount(text, session.currency)
  if (amount === undefined) refuseField('checkout_amount_must_be_known', '/Amount', `"${text}" is no amount`)
  return { amount }
}

interface Wish extends PayRequest {
  readonly payment_method: GivenMethod
}

/** Whatever is pressed twice, in two tabs or by two people, meets the same attempt. */
function pay(request: Paying, wish: Wish): Promise<CheckoutPaymentView> {
  return orWhatIsUnderWay(
    () => tryToPay(request, wish),
    async () => {
      const id = request.params['sessionId']!
      const session = await sessionOf(request, id)
      const intent = await intentOf(request, session)
      return intent && paymentStatusOf(session, intent) !== 'unpaid' ? seen(id, session, intent) : undefined
    },
  )
}

/** One try at a time: a new one is made only when the one before can no longer be paid. */
async function tryToPay(request: Paying, wish: Wish): Promise<CheckoutPaymentView> {
  const id = request.params['sessionId']!
  const session = await sessionOf(request, id)
  const before = await intentOf(request, session)
  if (before && isDecided(before, { session, wish })) return seen(id, session, before)
  await activeMerchant(request.dependencies, session.merchant)
  const asked = admitted(request, session, wish)
  await givePayer(request, session, wish)
  const ended = await endedAttempt(request, session, { before, asked })
  const attach = { type: 'AttachIntent', data: { ...asked, ended } } as const
  const { state } = await request.send(checkoutSession, id, attach, { mustExist: true })
  if (state.status === 'none' || !state.attempt) throw new Error('no intent was attached')
  await createAttempt(request, id, { ...state, attempt: state.attempt })
  const { paymentIntent } = state.attempt
  if (state.link !== null) await reserveLink(request, { link: state.link, session: id, paymentIntent })
  const body = { payment_method: wish.payment_method, return_url: wish.return_url ?? session.url }
  const { caller, owner, dependencies } = request
  const send: Paying['send'] = (...order) => request.send(...order)
  const confirmed = await confirmIntent({ body, caller, owner, dependencies, send }, paymentIntent)
  return seen(id, state, confirmed)
}

interface Pressed {
  readonly session: ExistingSession
  readonly wish: Wish
}

/** It was paid, or waits for what the payer was asked for. Pressing again changes nothing. */
function isDecided(intent: Exclude<PaymentIntent, { status: 'none' }>, { session, wish }: Pressed): boolean {
  const { status } = intent
  if (status === 'succeeded' || status === 'processing' || isLocked(intent)) return true
  // The page of the operator, or of the bank, asks for what was pressed before.
  if (status !== 'requires_action' || isOtherAmount(session, wish)) return false
  return isSameMethod(intent.attempts.at(-1)!.method, methodOf(wish.payment_method))
}

/** Only where the payer chooses it. */
function isOtherAmount({ amount, attempt }: ExistingSession, { collected }: Wish): boolean {
  const chosen = amount === null ? collected?.amount : undefined
  return chosen !== undefined && chosen !== null && chosen !== attempt?.amount
}

function isSameMethod(one: Attempt['method'], other: RailMethod): boolean {
  if (one.type === 'card' || other.type !== 'mobile_money') return one.type === other.type
  return one.operator === other.operator && one.msisdn === other.msisdn
}

/** Checked before anything is written: a mistyped number leaves nothing behind. */
function admitted(request: Paying, session: ExistingSession, wish: Wish) {
  const { payment_method, collected } = wish
  const { country, currency, methods, livemode } = session
  if (!isPayable(request, session)) refuse('checkout_session_must_be_payable')
  mustLeadBack(request, session, wish.return_url)
  const { type } = payment_method
  if (!methods.includes(type)) {
    const message = `${type} is not offered; one of ${methods.join(', ')}`
    refuseField('method_must_be_offered', '/payment_method/type', message)
  }
  const amount = session.amount ?? collected?.amount ?? null
  if (amount === null)
    return refuseField('checkout_amount_must_be_known', '/collected/amount', 'amount is required')
  if (collected?.amount && collected.amount !== amount) {
    const message = `amount is ${spelledAmount(collected.amount)}, but the session's is ${spelledAmount(amount)}`
    refuseField('checkout_amount_must_be_known', '/collected/amount', message)
  }
  const method = methodOf(payment_method)
  const operator = method.type === 'mobile_money' ? method.operator : undefined
  const fee = payerFeeOf(request, session, { amount, type, operator })
  const known = admitPaymentMethod({ country, currency, amountMinor: amount + fee }, method)
  requireRail(request.dependencies.rail, choiceOf({ livemode, method: known }))
  return { amount, fee }
}

/** Anybody may pay, so it is not the payer who says where our page about the operation forwards to. */
function mustLeadBack(
  { dependencies }: Paying,
  { successUrl, cancelUrl }: ExistingSession,
  url: string | null | undefined,
): void {
  if (!url) return
  const known = [dependencies.baseUrl, successUrl, cancelUrl].filter((one) => one !== null).map(originOf)
  if (known.includes(originOf(url))) return
  const message = `return_url leads to ${originOf(url)}, but payers of this session return to ${known.join(', ')}`
  refuseField('request_must_be_valid', '/return_url', message)
}

function originOf(url: string): string {
  return new URL(filledReturnUrl(url)).origin
}

function methodOf({ type, mobile_money, card }: GivenMethod): RailMethod {
  if (type === 'card') {
    if (!card) refuseField('payment_method_must_be_valid', '/payment_method/card', 'is required')
    return { type, token: card.token }
  }
  if (!mobile_money)
    return refuseField('payment_method_must_be_valid', '/payment_method/mobile_money', 'is required')
  const { country, operator, msisdn } = mobile_money
  return { type, country, operator, msisdn }
}

async function givePayer(request: Paying, session: ExistingSession, { collected }: Wish): Promise<void> {
  const { email = null, phone = null, name = null } = collected ?? {}
  if (email === null && phone === null && name === null) return
  const { currency, payer } = session
  const customer = payer.customer ?? (await findOrCreateCustomer(request, { email, phone, currency }))
  const data = { customer, email, phone, name }
  await request.send(checkoutSession, request.params['sessionId']!, { type: 'GivePayer', data })
}

interface Standing {
  readonly before: Exclude<PaymentIntent, { status: 'none' }> | undefined
  readonly asked: { readonly amount: number; readonly fee: number }
}

/** The intent of the attempt before, if another one has to take its place. */
async function endedAttempt(
  request: Paying,
  session: ExistingSession,
  { before, asked }: Standing,
): Promise<string | null> {
  const { attempt } = session
  if (!attempt) return null
  const isSame = attempt.amount === asked.amount && attempt.fee === asked.fee
  const isFresh = !before || before.status === 'requires_payment_method'
  if (isSame && isFresh) return null
  await endAttempt(request, session)
  return attempt.paymentIntent
}

function seen(id: string, session: ExistingSession, intent: PaymentIntent): CheckoutPaymentView {
  const { paymentIntent } = session.attempt!
  const view = viewPaymentIntent(paymentIntent, intent) ?? refuse('resource_must_exist')
  const { next_action: next } = view
  return {
    id: publicId('cs', id),
    object: 'checkout_payment',
    livemode: session.livemode,
    created: unixSeconds(session.createdAt),
    payment_intent: publicId('pi', paymentIntent),
    // The operator is being asked.
    status: intent.status !== 'none' && isLocked(intent) ? 'processing' : view.status,
    operation_id: view.operation_id,
    next_action: next,
    redirect_url: next?.type === 'redirect_to_url' ? next.redirect_to_url.url : null,
  }
}
