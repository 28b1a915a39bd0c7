import { identity, publicId } from '../../../../packages/contract/identity.ts'
import type { MethodType } from '../../../../packages/contract/payments/payment-methods.ts'
import { isServedBy, servedCollectors } from '../../../../packages/contract/payments/rails.ts'
import { Refusal, refuse } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { unixSeconds, type Static } from '../../../../packages/contract/vocabulary.ts'
import {
  checkoutSession,
  type ExistingSession,
} from '../../../../packages/domain/checkout/checkout-session.ts'
import {
  moneyOf,
  returnUrl,
  type CheckoutStatus,
  type HostedCheckoutView,
  type ReceiptView,
} from '../../../../packages/domain/checkout/resource.ts'
import { merchant } from '../../../../packages/domain/merchants/merchant.ts'
import { paymentIntent } from '../../../../packages/domain/payment-intents/payment-intent.ts'
import { refundedMinor, type PaymentIntent } from '../../../../packages/domain/payment-intents/state.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import type { Owner } from '../../../../packages/kernel/owner.ts'
import { brandOf } from '../organizations/brands.ts'
import {
  createAttempt,
  intentOf,
  isPayable,
  payerFeeOf,
  paymentStatusOf,
  sessionOf,
} from '../checkout-sessions.ts'
import { lastDigits, receiptNumber } from './hosted-receipts.ts'

// What the payer sees and does. Whoever knows the session's id is the payer.

type RequestPart = Pick<Request, 'owner' | 'dependencies' | 'params'>

/** The payer acts for the merchant whose session it is. */
export async function ownerOfSession({
  params,
  dependencies,
}: Pick<Request, 'params' | 'dependencies'>): Promise<Owner> {
  const id = params['sessionId']!
  const [first] = await dependencies.store.readStream(streamName(checkoutSession.category, id), 0, 1)
  const detail = `No checkout session ${publicId('cs', id)}`
  return first?.metadata ?? refuse('checkout_session_must_exist', { detail })
}

export async function hostedCheckout(request: RequestPart): Promise<HostedCheckoutView> {
  const id = request.params['sessionId']!
  const session = await sessionOf(request, id)
  const intent = await intentOf(request, session)
  const isOver = session.status === 'open' && !isPayable(request, session)
  const payment = paymentStatusOf(session, intent)
  const { rail } = request.dependencies
  return {
    id: publicId('cs', id),
    object: 'hosted_checkout',
    livemode: session.livemode,
    created: unixSeconds(session.createdAt),
    merchant: await brandOf(request.dependencies, session),
    ...moneyOf(session),
    open_amount: session.amount === null,
    fee_mode: session.feeMode,
    country: session.country,
    payment_methods: session.methods
      .map((type) => offered(request, session, type))
      .filter(({ type, total_amount }) => isServedBy(rail, type, session, total_amount)),
    // Its timer is about to say so, too.
    status: isOver && payment === 'unpaid' ? 'expired' : session.status,
    payment_status: payment,
    description: session.description,
    success_url: returnUrl(id, session.successUrl),
    cancel_url: returnUrl(id, session.cancelUrl),
    expires_at: unixSeconds(session.expiresAt),
  }
}

async function merchantName({ dependencies }: RequestPart, session: ExistingSession): Promise<string> {
  const state = await readState(dependencies.store, merchant, session.merchant)
  return state.status === 'none' ? '' : state.name
}

function offered(request: RequestPart, session: ExistingSession, type: MethodType) {
  const { amount } = session
  const fee = amount === null ? null : payerFeeOf(request, session, { amount, type })
  const total_amount = amount === null || fee === null ? null : amount + fee
  const operators = type === 'card' ? [] : servedCollectors(request.dependencies.rail, session, total_amount)
  return {
    type,
    fee,
    total_amount,
    operators: operators.map(({ code, name }) => ({ code, name })),
  }
}

/** Seldom at first sight, often while the payer types the code, seldom when the phone lies aside. */
const pollsMs = [
  [15_000, 1_500],
  [60_000, 3_000],
  [Infinity, 6_000],
] as const

export async function checkoutStatus(request: RequestPart): Promise<Static<typeof CheckoutStatus>> {
  const id = request.params['sessionId']!
  const session = await sessionOf(request, id)
  const intent = await intentOf(request, session)
  const payment_status = paymentStatusOf(session, intent)
  const attempt = intent?.attempts.at(-1)
  const shown = attempt && !attempt.aborted ? attempt : undefined
  const ageMs = shown ? request.dependencies.clock(request.owner).getTime() - Date.parse(shown.startedAt) : 0
  return {
    id: publicId('cs', id),
    object: 'checkout_status',
    livemode: session.livemode,
    created: unixSeconds(session.createdAt),
    status: session.status,
    payment_status,
    payment_intent: session.attempt && publicId('pi', session.attempt.paymentIntent),
    operation_id: shown ? publicId('op', shown.operationId) : null,
    redirect_url: nextUrl(id, session, intent),
    poll_after_ms: payment_status === 'processing' ? pollsMs.find(([until]) => ageMs < until)![1] : 0,
  }
}

function nextUrl(id: string, session: ExistingSession, intent: PaymentIntent | undefined): string | null {
  if (intent?.status === 'requires_action') return intent.url
  if (paymentStatusOf(session, intent) === 'paid') return returnUrl(id, session.successUrl)
  return session.status === 'open' ? null : returnUrl(id, session.cancelUrl)
}

/** The payer gives up. What is under way at the operator cannot be called back. */
export async function cancelCheckout(
  request: RequestPart & Pick<Request, 'send'>,
): Promise<HostedCheckoutView> {
  const id = request.params['sessionId']!
  const session = await sessionOf(request, id)
  if (session.status === 'open') await endAttempt(request, session)
  const ended = session.attempt?.paymentIntent ?? null
  const command = { type: 'CancelSession', data: { ended } } as const
  await request.send(checkoutSession, id, command, { mustExist: true })
  return hostedCheckout(request)
}

/** The payer does not go on where the operator has led, and pays another way. */
export async function retryCheckout(
  request: RequestPart & Pick<Request, 'send'>,
): Promise<HostedCheckoutView> {
  const session = await sessionOf(request, request.params['sessionId']!)
  if (session.status === 'open') await endAttempt(request, session)
  return hostedCheckout(request)
}

/** Makes sure that the newest try can no longer be paid. */
export async function endAttempt(
  request: RequestPart & Pick<Request, 'send'>,
  session: ExistingSession,
): Promise<void> {
  const { attempt } = session
  if (!attempt) return
  const intent = await intentOf(request, session)
  if (intent?.status === 'failed' || intent?.status === 'canceled') return
  // Attached, and about to be made by whoever pays: it has to be there to be ended.
  if (!intent) await createAttempt(request, request.params['sessionId']!, { ...session, attempt })
  const { paymentIntent: id } = attempt
  try {
    await request.send(paymentIntent, id, { type: 'CancelIntent', data: {} }, { mustExist: true })
  } catch (error) {
    const isUnderWay = error instanceof Refusal && error.reason === 'intent_must_be_cancelable'
    if (!isUnderWay) throw error
    refuse('checkout_payment_must_not_be_under_way')
  }
}

export async function checkoutReceipt(request: RequestPart): Promise<ReceiptView> {
  const session = await sessionOf(request, request.params['sessionId']!)
  const intent = await intentOf(request, session)
  if (intent?.status !== 'succeeded') return refuse('checkout_session_must_be_paid')
  const { payment, attempts } = intent
  const { method } = attempts.find(({ operationId }) => operationId === payment.operationId)!
  const { paymentIntent: id, amount, fee } = session.attempt!
  const { name, email } = session.payer
  const phone = method.type === 'mobile_money' ? lastDigits(method) : null
  return {
    id: publicId('rcp', id),
    object: 'receipt',
    livemode: session.livemode,
    created: unixSeconds(payment.succeededAt),
    number: receiptNumber(id, payment.succeededAt),
    kind: 'payment',
    amount,
    currency: session.currency,
    fee: session.feeMode === 'customer_pays' ? fee : null,
    refunded_amount: refundedMinor(payment),
    paid_at: payment.succeededAt,
    payer: { name, email, phone },
    merchant: { name: await merchantName(request, session) },
    description: session.description,
    payment_intent: publicId('pi', id),
    payment_method: method.type,
    operator: method.type === 'mobile_money' ? method.operator : null,
  }
}

/** The path names the session; a body may repeat it, and must then mean the same. */
export function isSameSession(id: string, given: string | null | undefined): boolean {
  return !given || identity(given, 'cs') === id
}
