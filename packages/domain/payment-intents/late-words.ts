import type { Message } from '../../kernel/decider.ts'
import type { PaymentIntentEvents } from './events.ts'
import { collected } from './outcomes.ts'
import { attemptOf, type CreatedIntent } from './state.ts'

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

/**
 * The same word is news once the record is another one: what was taken back may be paid late, and then be
 * returned again.
 */
export function contradictionOf(told: Pick<Contradiction, 'operationId' | 'recorded' | 'word'>): string {
  return `${told.operationId} ${told.recorded} ${told.word}`
}

export function contradicted(intent: CreatedIntent, said: PaymentWord): readonly Happening[] {
  const { operationId, word, isConfirmed } = said
  const recorded = recordOf(intent, operationId)
  if (!recorded || intent.contradictions.includes(contradictionOf({ operationId, recorded, word }))) return []
  const isUntouched = intent.status !== 'succeeded' || Object.keys(intent.payment.refunds).length === 0
  const remedy = isConfirmed && isUntouched ? remedies[recorded] : 'case'
  const money = collected(intent, attemptOf(intent, operationId))
  return [{ type: 'PaymentIntentResultContradicted', data: { ...money, recorded, word, remedy } }]
}
