import { admitPayment } from '../../../packages/contract/payments/eligibility.ts'
import { choiceOf, requireRail } from '../../../packages/contract/payments/rails.ts'
import { Refusal, refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import {
  admittedMethod,
  paymentIntent,
  type PaymentIntentCommands,
} from '../../../packages/domain/payment-intents/payment-intent.ts'
import { commandAfter } from '../../../packages/domain/payment-intents/operator-answer.ts'
import {
  viewPaymentIntent,
  type ConfirmationRequest,
  type PaymentIntentRequest,
  type PaymentIntentView,
} from '../../../packages/domain/payment-intents/resource.ts'
import {
  created,
  type Attempt,
  type CreatedIntent,
  type PaymentIntent,
} from '../../../packages/domain/payment-intents/state.ts'
import {
  RailTimeoutError,
  RailUnavailableError,
  type RailState,
} from '../../../packages/kernel/ports/rails.ts'
import { paymentIntents } from '../../../projections/payment-intents.ts'
import { currentState } from '../kinds/current-state.ts'
import { reserveLink } from './hosted/checkout-links.ts'
import { sessionOf } from './checkout-sessions.ts'
import { findOrCreateCustomer, namedCustomer } from './billing/customers.ts'

type Creation = Request<Static<typeof PaymentIntentRequest>>
type Confirmation = Request<Static<typeof ConfirmationRequest>>
/** Whoever confirms an intent: a merchant, or a payer on a page of ours. */
export type Confirming = Pick<Confirmation, 'body' | 'caller' | 'owner' | 'dependencies' | 'send'>

/** The customer is found, or made, before the intent is. */
export async function prepareIntent(request: Creation): Promise<PaymentIntentCommands['CreateIntent']> {
  const { amount, currency, transaction_country, payer_country, rail_country, description, metadata } =
    request.body
  // A payment that is impossible creates no customer.
  admitPayment({ country: transaction_country, currency, amountMinor: amount })
  requireRail(request.dependencies.rail, {
    livemode: request.caller.livemode,
    country: transaction_country,
  })
  return {
    amount,
    currency,
    transactionCountry: transaction_country,
    payerCountry: payer_country ?? null,
    railCountry: rail_country ?? null,
    description: description ?? null,
    metadata: metadata ?? {},
    customer: await customerOf(request),
  }
}

/** Inferred: a named customer is used, whatever contact is given beside it. */
async function customerOf(request: Creation): Promise<string | null> {
  const { customer, customer_email, customer_phone, currency } = request.body
  if (customer) {
    const known = await namedCustomer(request, customer)
    return known?.id ?? refuseField('customer_must_exist', '/customer', `"${customer}" is not a customer`)
  }
  const contact = { email: customer_email ?? null, phone: customer_phone ?? null, currency }
  return findOrCreateCustomer(request, contact)
}

export async function confirmPaymentIntent(request: Confirmation): Promise<PaymentIntentView> {
  const id = request.params['id']!
  await claimLink(request, id)
  return seen(id, await confirmIntent(request, id))
}

/** A merchant may confirm what a session has made: of a link for one payment it is still the only one. */
async function claimLink(request: Confirmation, id: string): Promise<void> {
  // Its purpose never changes, so what this process remembers needs no second look; most have another one.
  const known = request.dependencies.executor.remembered(paymentIntent, id)?.state as
    PaymentIntent | undefined
  if (known && known.status !== 'none' && known.purpose.type !== 'checkout') return
  const intent = (await currentState(request, paymentIntents, id)) as PaymentIntent | undefined
  if (!intent || intent.status !== 'requires_payment_method' || intent.purpose.type !== 'checkout') return
  const session = intent.purpose.id!
  const { link } = await sessionOf(request, session)
  if (link !== null) await reserveLink(request, { link, session, paymentIntent: id })
}

/**
 * Locks the intent before the provider is called, so that of all confirmations at most one calls it. When the
 * provider's answer is lost, the lock stays until it has said what became of the call.
 */
export async function confirmIntent(request: Confirming, id: string): Promise<PaymentIntent> {
  const data = confirmationOf(request)
  const { caller, dependencies } = request
  const isServed = dependencies.rail.serves(choiceOf({ livemode: caller.livemode, method: data.method }))
  const { state, appended } = isServed ? await lock(request, id, data) : await unserved(request, id, data)
  if (appended === 0) return state
  const intent = created(state)
  const attempt = intent.attempts.at(-1)!
  // Writing the lock may have taken longer than it lasts: by now it may be another confirmation's.
  const isOver = request.dependencies.clock(request.caller).getTime() >= Date.parse(attempt.leaseUntil)
  const answer = isOver ? neverReceived : await submit(request, intent, attempt)
  const outcome = await request.send(paymentIntent, id, commandAfter(attempt.operationId, answer))
  if (answer.state === 'never_received') refuse('provider_must_accept_the_payment')
  return outcome.state
}

const neverReceived: RailState = { state: 'never_received' }

/** Without a rail nothing is begun; what is in progress or ended is answered as usual. */
async function unserved(
  { owner, dependencies }: Confirming,
  id: string,
  { method }: PaymentIntentCommands['ConfirmIntent'],
) {
  // The read model's states are those of its decider.
  const state = (await currentState({ owner, dependencies }, paymentIntents, id)) as PaymentIntent | undefined
  if (!state) refuse('resource_must_exist')
  if (state.status === 'requires_payment_method') {
    admittedMethod(state, method)
    refuse('live_provider_must_be_configured')
  }
  return { state, appended: 0 }
}

async function lock(request: Confirming, id: string, data: PaymentIntentCommands['ConfirmIntent']) {
  try {
    const once = { mustExist: true, onConflict: 'refuse' } as const
    return await request.send(paymentIntent, id, { type: 'ConfirmIntent', data }, once)
  } catch (error) {
    // Spec, Errors: a lost race is refused like a held lock.
    const isLostRace = error instanceof Refusal && error.reason === 'resource_must_not_have_changed'
    throw isLostRace ? new Refusal('confirmation_must_be_the_only_one', { retryAfterSeconds: 1 }) : error
  }
}

function confirmationOf({ body, dependencies }: Confirming): PaymentIntentCommands['ConfirmIntent'] {
  const { payment_method, return_url } = body
  const { type, mobile_money, card } = payment_method
  const common = { returnUrl: return_url ?? null, statusPages: `${dependencies.baseUrl}/operations/status` }
  if (type === 'card') {
    if (!card) refuseField('payment_method_must_be_valid', '/payment_method/card', 'is required')
    return { preferredFlow: null, method: { type, token: card.token }, ...common }
  }
  if (!mobile_money) {
    refuseField('payment_method_must_be_valid', '/payment_method/mobile_money', 'is required')
  }
  const { country, operator, msisdn, preferred_flow } = mobile_money
  return { preferredFlow: preferred_flow ?? null, method: { type, country, operator, msisdn }, ...common }
}

async function submit(
  { dependencies, body }: Confirming,
  intent: CreatedIntent,
  attempt: Attempt,
): Promise<RailState> {
  const { merchant, livemode, amount, currency } = intent
  try {
    return await dependencies.rail.submit({
      reference: attempt.operationId,
      kind: 'collection',
      merchant,
      livemode,
      amountMinor: amount,
      currency,
      method: payingMethod(attempt, body),
      returnUrl: attempt.statusUrl,
    })
  } catch (error) {
    if (error instanceof RailUnavailableError) return neverReceived
    if (error instanceof RailTimeoutError)
      refuse('dependency_must_answer_in_time', { detail: unknownOutcome })
    throw error
  }
}

/** History keeps only the end of a card's token; the whole token goes from the request to the provider. */
function payingMethod({ method }: Attempt, { payment_method }: Confirming['body']): Attempt['method'] {
  return method.type === 'card' ? { ...method, token: payment_method.card!.token } : method
}

export const unknownOutcome = 'The provider did not answer in time; the intent will show the outcome'

export function seen(id: string, state: PaymentIntent): PaymentIntentView {
  return viewPaymentIntent(id, state) ?? refuse('resource_must_exist')
}
