import type { Message } from '../../kernel/decider.ts'
import { isOneOf } from '../ledger/accounts.ts'
import { creditsOf } from '../ledger/plans.ts'
import type { PaymentIntentEvents } from './events.ts'
import { feeOf, railOf } from './rail.ts'
import { lateRefundIdOf, type Attempt, type CreatedIntent } from './state.ts'

type Happening = Message<PaymentIntentEvents>

/** Domain model 4. */
const leaseMs = 60_000
const promptMs = 5 * 60_000
/** Domain model 4: card 3-D Secure. Inferred: the same for every provider's page. */
const redirectMs = 15 * 60_000
/** Domain model 4: money from card payments. */
const cardDelayMs = 2 * 86_400_000

export function leaseUntil(now: Date): string {
  return after(now, leaseMs)
}

export function submitted({ attempts }: CreatedIntent, now: Date): Happening {
  const { operationId, method } = attempts.at(-1)!
  const expiresAt = after(now, method.type === 'card' ? redirectMs : promptMs)
  return { type: 'PaymentIntentSubmitted', data: { operationId, expiresAt } }
}

export function actionRequired(operationId: string, url: string, now: Date): Happening {
  const data = { operationId, url, expiresAt: after(now, redirectMs) }
  return { type: 'PaymentIntentActionRequired', data }
}

export function succeeded(intent: CreatedIntent, attempt: Attempt, now: Date): Happening {
  const { plan, purpose } = intent
  const fee = plan.feeMode === 'merchant' ? feeOf(intent, attempt.method, now) : plan.payerFee
  const credits = creditsOf(plan, fee)
  // What the fee consumes, or is held for others, leaves nothing that becomes available later.
  const isDeferred =
    attempt.method.type === 'card' &&
    credits.some(({ account }) => isOneOf(account, ['merchant.available', 'wallet']))
  const availableOn = isDeferred ? after(now, cardDelayMs) : now.toISOString()
  const posted = { fee, availableOn, purpose, template: plan.template, credits }
  return { type: 'PaymentIntentSucceeded', data: Object.assign(posted, collected(intent, attempt)) }
}

export function lateSuccess(intent: CreatedIntent, attempt: Attempt): Happening {
  const { method, operationId } = attempt
  const data = { ...collected(intent, attempt), method, refund: lateRefundIdOf(operationId) }
  return { type: 'PaymentIntentLateSuccessRecorded', data }
}

/** Money that the operator moved: what the book needs to know about it. */
export function collected({ amount, currency }: CreatedIntent, { operationId, method }: Attempt) {
  return { operationId, amount, currency, rail: railOf(method) }
}

function after(start: Date, delayMs: number): string {
  return new Date(start.getTime() + delayMs).toISOString()
}
