import { identity } from '../../../packages/contract/identity.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import { choice, maybe, record, Type, type Static } from '../../../packages/contract/vocabulary.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import { commandAfter } from '../../../packages/domain/payment-intents/operator-answer.ts'
import type { PaymentIntentView } from '../../../packages/domain/payment-intents/resource.ts'
import type { CreatedIntent, PaymentIntent } from '../../../packages/domain/payment-intents/state.ts'
import type { RailState } from '../../../packages/kernel/ports/rails.ts'
import { paymentIntents } from '../../../projections/payment-intents.ts'
import { currentState } from '../kinds/current-state.ts'
import { refuseUnknown } from '../kinds/prefixes.ts'
import { seen } from './payment-intents.ts'

export const MobileMoneyCallback = record({
  payment_intent_id: Type.String(),
  status: choice('succeeded', 'failed'),
  failure_reason: maybe(Type.String({ maxLength: 200 })),
})

type CollectionCall = Request<Static<typeof MobileMoneyCallback>>

/** Sandbox only: decides the operator's answer to a waiting payment. Repeating it changes nothing. */
export async function playCollection(request: CollectionCall): Promise<PaymentIntentView> {
  const { body, owner, dependencies } = request
  const { payment_intent_id: text } = body
  const id = identity(text, 'pi')
  const found = id && (await currentState({ owner, dependencies }, paymentIntents, id))
  const intent = found as PaymentIntent | '' | undefined
  if (!id || !intent || intent.status === 'none') refuseUnknown('/payment_intent_id', 'payment_intent', text)
  if (intent.status === body.status) return seen(id, intent)
  const operationId = openOperation(intent)
  // The operator may have ended it by itself a moment ago: then its answer counts.
  const command = commandAfter(
    operationId,
    await dependencies.sandboxRail.resolve(operationId, resultOf(body)),
  )
  const { state } = await request.send(paymentIntent, id, command, { mustExist: true })
  return seen(id, state)
}

function openOperation({ status, attempts }: CreatedIntent): string {
  if (status === 'processing' || status === 'requires_action') return attempts.at(-1)!.operationId
  return refuse('intent_must_be_cancelable', { detail: `Nothing is open for an intent that is ${status}` })
}

function resultOf({ status, failure_reason }: Static<typeof MobileMoneyCallback>): RailState {
  if (status === 'succeeded') return { state: 'succeeded' }
  const code = failure_reason ?? 'payer_declined'
  return { state: 'failed', code, message: `The operator reports ${code}` }
}
