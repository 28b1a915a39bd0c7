import type { Message } from '../../kernel/decider.ts'
import type { PaymentIntentEvents } from './events.ts'
import { collected } from './outcomes.ts'
import { attemptOf, lateRefundIdOf, type CreatedIntent, type LateRefundStatus } from './state.ts'

type Happening = Message<PaymentIntentEvents>
type Contradiction = PaymentIntentEvents['PaymentIntentLateRefundContradicted']

/** Returning an operation's late money under one reference. */
export interface LateRefund {
  readonly operationId: string
  readonly reference: string
}

// State

interface Attempted {
  readonly reference: string
  readonly status: LateRefundStatus
}

/** Every reference that stands, oldest first. */
export function lateRefundsOf({ lateRefunds }: CreatedIntent, operationId: string): readonly Attempted[] {
  const found: Attempted[] = []
  for (;;) {
    const reference = lateRefundIdOf(operationId, found.length)
    const status = lateRefunds[reference]
    if (!status) return found
    found.push({ reference, status })
  }
}

export function isLateRefunded(intent: CreatedIntent, operationId: string): boolean {
  return lateRefundsOf(intent, operationId).some(({ status }) => status === 'succeeded')
}

/** The operation whose late money a reference returns. */
export function lateOperationOf(intent: CreatedIntent, reference: string): string | undefined {
  return intent.late.find((operationId) => {
    const known = lateRefundsOf(intent, operationId)
    // The next one may have been given up while a provider was already working on it.
    return [...known.map((each) => each.reference), lateRefundIdOf(operationId, known.length)].includes(
      reference,
    )
  })
}

export function withLateRefund(
  intent: CreatedIntent,
  reference: string,
  status: LateRefundStatus,
): CreatedIntent {
  return { ...intent, lateRefunds: { ...intent.lateRefunds, [reference]: status } }
}

/** The money is back. Another reference may be under way; in older histories it was then forgotten. */
export function withLateRefunded(
  intent: CreatedIntent,
  { operationId, refund: reference, underWay }: PaymentIntentEvents['PaymentIntentLateSuccessRefunded'],
): CreatedIntent {
  const waiting = lateRefundsOf(intent, operationId).filter(({ status }) => status === 'requested')
  const dropped = new Set(waiting.map((each) => each.reference).filter((each) => each !== underWay))
  const kept = Object.entries(intent.lateRefunds).filter(([each]) => !dropped.has(each))
  const lateRefundsBooked = { ...intent.lateRefundsBooked, [operationId]: nthOf(intent, operationId) }
  const given = { ...intent, lateRefunds: Object.fromEntries(kept), lateRefundsBooked }
  return withLateRefund(given, reference, 'succeeded')
}

export function withLateContradiction(
  intent: CreatedIntent,
  { refund, word, isConfirmed }: Contradiction,
): CreatedIntent {
  if (isConfirmed) return withLateRefund(intent, refund, word === 'succeeded' ? 'succeeded' : 'failed')
  return { ...intent, lateRefundDoubts: [...intent.lateRefundDoubts, `${refund} ${word}`] }
}

// Decisions

export function lateRefundRecorded(intent: CreatedIntent, refund: LateRefund): readonly Happening[] {
  const { operationId, reference } = refund
  if (!intent.late.includes(operationId)) throw new Error(`operation ${operationId} was not paid late`)
  const isKnown = intent.lateRefunds[reference] === 'failed' || isLateRefunded(intent, operationId)
  return isKnown ? [] : [refundedLate(intent, refund)]
}

const hourMs = 3_600_000
/** Inferred: after this long, a provider that keeps late money is told again, under another reference. */
const retriedAfterMs = [hourMs, 6 * hourMs, 24 * hourMs]

/** After it has failed too, people decide. */
export function lastAutomaticRefund(operationId: string): string {
  return lateRefundIdOf(operationId, retriedAfterMs.length)
}

export function lateRefundFailed(
  intent: CreatedIntent,
  { operationId, reference, message }: LateRefund & { readonly message: string },
  now: Date,
): readonly Happening[] {
  if (intent.lateRefunds[reference] !== 'requested') return []
  const known = lateRefundsOf(intent, operationId)
  const isBackOtherwise = isLateRefunded(intent, operationId)
  const delayMs = retriedAfterMs[known.filter(({ status }) => status === 'failed').length]
  const isLast = isBackOtherwise || delayMs === undefined
  const next = isLast ? null : nextRefund(operationId, known.length, now.getTime() + delayMs)
  const money = collected(intent, attemptOf(intent, operationId))
  const data = { ...money, refund: reference, message, next, isBackOtherwise }
  return [{ type: 'PaymentIntentLateRefundFailed', data }]
}

function nextRefund(operationId: string, earlier: number, timeMs: number) {
  return { refund: lateRefundIdOf(operationId, earlier), at: new Date(timeMs).toISOString() }
}

/** A provider's statement about a late refund, against the record. */
export interface LateRefundWord extends LateRefund {
  readonly word: Contradiction['word']
  /** The provider repeats it when asked. */
  readonly isConfirmed: boolean
}

export function lateRefundContradicted(intent: CreatedIntent, said: LateRefundWord): readonly Happening[] {
  const { operationId, reference, word, isConfirmed } = said
  const others = lateRefundsOf(intent, operationId).filter((each) => each.reference !== reference)
  const isElsewhere = others.some(({ status }) => status === 'succeeded')
  const recorded = recordAgainst(word, intent.lateRefunds[reference], isElsewhere)
  if (!recorded) return []
  if (recorded === 'failed' && isConfirmed) return [refundedLate(intent, said)]
  if (!isConfirmed && intent.lateRefundDoubts.includes(`${reference} ${word}`)) return []
  const isReopened = recorded === 'succeeded' && isConfirmed && !isElsewhere
  const money = collected(intent, attemptOf(intent, operationId))
  const against = { recorded, word, isConfirmed, remedy: isReopened ? 'reopen' : 'case' } as const
  const data = { ...money, refund: reference, ...against, nth: nthOf(intent, operationId) }
  return [{ type: 'PaymentIntentLateRefundContradicted', data }]
}

function recordAgainst(
  word: Contradiction['word'],
  status: LateRefundStatus | undefined,
  isElsewhere: boolean,
): Contradiction['recorded'] | undefined {
  if (word !== 'succeeded') return status === 'succeeded' ? status : undefined
  if (status === 'succeeded') return undefined
  if (isElsewhere) return 'refunded_otherwise'
  return status === 'failed' ? status : undefined
}

/** People have decided that it is tried again. */
export function lateRefundResumed(intent: CreatedIntent, operationId: string): readonly Happening[] {
  const known = lateRefundsOf(intent, operationId)
  if (!intent.late.includes(operationId) || known.some(({ status }) => status !== 'failed')) return []
  const refund = lateRefundIdOf(operationId, known.length)
  return [{ type: 'PaymentIntentLateRefundResumed', data: { operationId, refund } }]
}

function refundedLate(intent: CreatedIntent, { operationId, reference }: LateRefund): Happening {
  const money = collected(intent, attemptOf(intent, operationId))
  const open = lateRefundsOf(intent, operationId).filter(({ status }) => status === 'requested')
  const underWay = open.find((each) => each.reference !== reference)?.reference ?? null
  const data = { ...money, refund: reference, nth: nthOf(intent, operationId), underWay }
  return { type: 'PaymentIntentLateSuccessRefunded', data }
}

/** Money that has gone back n times, and came back, is late for the (n + 1)th time. */
function nthOf({ lateRefundsBooked }: CreatedIntent, operationId: string): number {
  return 1 + (lateRefundsBooked[operationId] ?? 0)
}
