import { begun } from '../../contract/existing.ts'
import type { Message } from '../../kernel/decider.ts'
import type { PaymentIntentEvents } from './events.ts'
import type { CreatedIntent, PaymentIntent } from './state.ts'

type Happening = Message<PaymentIntentEvents>

/** The provider has said that a canceled intent was not paid. */
export function cancellationSettled(intent: CreatedIntent): readonly Happening[] {
  if (intent.status !== 'canceled' || !intent.open) return []
  const { operationId } = intent.attempts.at(-1)!
  return [{ type: 'PaymentIntentCancellationSettled', data: { operationId } }]
}

export function cancellationEscalated(intent: CreatedIntent): readonly Happening[] {
  if (intent.status !== 'canceled' || !intent.open) return []
  const { amount, currency } = intent
  const { operationId } = intent.attempts.at(-1)!
  return [{ type: 'PaymentIntentEscalated', data: { operationId, amount, currency } }]
}

/** Nobody asks any more whether it was paid. */
export function closed(state: PaymentIntent): CreatedIntent {
  const intent = begun(state)
  return intent.status === 'canceled' ? { ...intent, open: false } : intent
}
