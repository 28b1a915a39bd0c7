import { refuse, Refusal } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { paymentIntent } from '../../../../packages/domain/payment-intents/payment-intent.ts'
import { isLocked, type PaymentIntent } from '../../../../packages/domain/payment-intents/state.ts'
import { paymentLink, type PaymentLink } from '../../../../packages/domain/payment-links/payment-link.ts'
import { paymentIntents } from '../../../../projections/payment-intents.ts'
import { paymentLinks } from '../../../../projections/payment-links.ts'
import { currentState } from '../../kinds/current-state.ts'

type RequestPart = Pick<Request, 'owner' | 'dependencies'>

/**
 * The payment that has a link for one payment to itself; undefined where it is free. Refused where that one
 * is under way or was made.
 */
export async function holderOfLink(request: RequestPart, link: string): Promise<string | undefined> {
  const state = (await currentState(request, paymentLinks, link)) as PaymentLink | undefined
  const held = state && state.status !== 'none' ? state.reserved?.paymentIntent : undefined
  if (held !== undefined) await idlePayment(request, held)
  return held
}

/** As it is at this moment: somebody may begin it in the next one. */
async function idlePayment(request: RequestPart, id: string): Promise<PaymentIntent | undefined> {
  const intent = (await currentState(request, paymentIntents, id)) as PaymentIntent | undefined
  if (isUnderWay(intent)) refuse('payment_link_must_not_be_in_use', { retryAfterSeconds: 5 })
  if (intent?.status === 'succeeded') refuse('payment_link_must_be_open', { detail: paid })
  return intent
}

const paid = 'The payment link was for one payment, which was made'

function isUnderWay(intent: PaymentIntent | undefined): boolean {
  if (!intent || intent.status === 'none') return false
  return intent.status === 'processing' || intent.status === 'requires_action' || isLocked(intent)
}

interface Claim {
  readonly link: string
  readonly session: string
  readonly paymentIntent: string
}

/**
 * Of all sessions of a link for one payment, one pays at a time: the payment of the one before can no longer
 * be made when it loses the link.
 */
export async function reserveLink(
  request: RequestPart & Pick<Request, 'send'>,
  { link, session, paymentIntent: own }: Claim,
): Promise<void> {
  const reserve = (instead: string | null) => {
    const data = { session, paymentIntent: own, instead }
    return request.send(paymentLink, link, { type: 'ReserveLink', data }, { mustExist: true })
  }
  try {
    await reserve(null)
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'payment_link_must_not_be_in_use') throw error
    // Whoever comes late with a payment that has ended takes the link from nobody.
    if ((await statusOf(request, own)) !== 'requires_payment_method') return
    const holder = await holderOfLink(request, link)
    if (holder !== undefined && holder !== own) await endPayment(request, holder)
    await reserve(holder ?? null)
  }
}

async function statusOf(request: RequestPart, id: string): Promise<PaymentIntent['status'] | undefined> {
  return ((await currentState(request, paymentIntents, id)) as PaymentIntent | undefined)?.status
}

/** It was never begun, or has failed. */
async function endPayment(request: RequestPart & Pick<Request, 'send'>, id: string): Promise<void> {
  const intent = await idlePayment(request, id)
  if (intent?.status !== 'requires_payment_method') return
  try {
    await request.send(paymentIntent, id, { type: 'CancelIntent', data: {} }, { mustExist: true })
  } catch (error) {
    const isBegun = error instanceof Refusal && error.reason === 'intent_must_be_cancelable'
    throw isBegun ? new Refusal('payment_link_must_not_be_in_use', { retryAfterSeconds: 5 }) : error
  }
}
