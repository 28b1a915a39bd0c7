import type { Message } from '../../kernel/decider.ts'
import type { PaymentIntentEvents } from './events.ts'
import { collected } from './outcomes.ts'
import { attemptOf, lateRefundFailures, lateRefundIdOf, type CreatedIntent } from './state.ts'

type Happening = Message<PaymentIntentEvents>
type Contradiction = PaymentIntentEvents['PaymentIntentResultContradicted']

export interface PaymentWord {
  readonly operationId: string
  readonly word: Contradiction['word']
  /** The provider repeats it when asked. */
  readonly isConfirmed: boolean
}

/**
 * `take_back`: the payment never happened, and the merchant has not refunded any of it. `case`: people
 * decide. A failed or canceled intent is consistent with both statements.
 */
const remedies: Readonly<Record<Contradiction['recorded'], Contradiction['remedy']>> = {
  succeeded: 'take_back',
  late: 'case',
}

/** Whether the intent says that the operation was paid, and how. */
export function recordOf(intent: CreatedIntent, operationId: string): Contradiction['recorded'] | undefined {
  if (intent.status === 'succeeded' && intent.payment.operationId === operationId) return 'succeeded'
  return intent.late.includes(operationId) ? 'late' : undefined
}

/** It had succeeded, and does no more: an earlier success may only have been told again. */
export function wasTakenBack(intent: CreatedIntent, operationId: string): boolean {
  const isDenied = intent.contradictions.some((told) => told.startsWith(`${operationId} `))
  return isDenied && !recordOf(intent, operationId)
}

export function contradicted(intent: CreatedIntent, said: PaymentWord): readonly Happening[] {
  const { operationId, word, isConfirmed } = said
  const recorded = recordOf(intent, operationId)
  if (!recorded || intent.contradictions.includes(`${operationId} ${word}`)) return []
  const isUntouched = intent.status !== 'succeeded' || Object.keys(intent.payment.refunds).length === 0
  const remedy = isConfirmed && isUntouched ? remedies[recorded] : 'case'
  const money = collected(intent, attemptOf(intent, operationId))
  return [{ type: 'PaymentIntentResultContradicted', data: { ...money, recorded, word, remedy } }]
}

const hourMs = 3_600_000
/** Inferred: after this long, a provider that keeps late money is told again, under another reference. */
const retriedAfterMs = [hourMs, 6 * hourMs, 24 * hourMs]

interface Refusal {
  readonly operationId: string
  readonly reference: string
  readonly message: string
}

export function lateRefundFailed(
  intent: CreatedIntent,
  { operationId, reference, message }: Refusal,
  now: Date,
): readonly Happening[] {
  const failures = lateRefundFailures(intent, operationId)
  const isOver = intent.lateRefunded.includes(operationId)
  if (isOver || reference !== lateRefundIdOf(operationId, failures)) return []
  const delayMs = retriedAfterMs[failures]
  const next = delayMs === undefined ? null : nextRefund(operationId, failures + 1, now.getTime() + delayMs)
  const money = collected(intent, attemptOf(intent, operationId))
  return [{ type: 'PaymentIntentLateRefundFailed', data: { ...money, refund: reference, message, next } }]
}

function nextRefund(operationId: string, failures: number, timeMs: number) {
  return { refund: lateRefundIdOf(operationId, failures), at: new Date(timeMs).toISOString() }
}
