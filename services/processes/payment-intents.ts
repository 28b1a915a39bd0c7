import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { PaymentIntentEvents } from '../../packages/domain/payment-intents/events.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { commandAfter, failPayment } from '../../packages/domain/payment-intents/operator-answer.ts'
import {
  attemptOf,
  created,
  isLocked,
  type CreatedIntent,
} from '../../packages/domain/payment-intents/state.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import {
  RailTimeoutError,
  RailUnavailableError,
  type PaymentRail,
  type RailCallback,
  type RailState,
} from '../../packages/kernel/rail-ports.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import { askLateRefund, giveBackLatePayment } from './late-refunds.ts'
import { operationOf } from './operations.ts'
import type { Process, Reaction, Tools } from './process.ts'

export const paymentIntentProcess: Process = {
  reactions: { PaymentIntentCanceled: askWhetherPaid, PaymentIntentLateSuccessRecorded: giveBackLatePayment },
  timers: {
    intent_lock: breakLock,
    intent_status: askStatus,
    late_refund: askLateRefund,
    payment_available: release,
  },
  callbacks: { collection: onRailCallback },
}

/** Domain model 4: operators are asked at steps of 30 s. */
const askedEveryMs = 30_000
/** Inferred: what is still open when its time is up is asked less often. */
const askedLateEveryMs = 5 * 60_000
const releasedEveryMs = 3_600_000

async function onRailCallback(
  { reference, merchant, livemode, result }: RailCallback,
  tools: Tools,
): Promise<void> {
  const { resource } = await operationOf(reference, tools)
  const order = to(paymentIntent, resource, commandAfter(reference, result))
  await tools.send(order, { merchant, livemode }, 'rail')
}

/**
 * The lease of a confirmation is over and its answer never came: the provider is asked before anything is
 * tried again.
 */
async function breakLock({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<Date | undefined> {
  const intent = await readState(tools.dependencies.store, paymentIntent, subject)
  if (intent.status === 'none' || !isLocked(intent)) return undefined
  const { operationId, leaseUntil } = intent.attempts.at(-1)!
  // The timer may be that of an attempt before: who holds the lock now may still be about to submit.
  const end = new Date(leaseUntil)
  if (tools.dependencies.clock() < end) return end
  const state = await statusOf(tools.dependencies.rail, intent, operationId)
  if (!state) return later(tools, askedEveryMs)
  const order = to(paymentIntent, subject, commandAfter(operationId, state))
  await tools.send(order, { merchant, livemode }, 'timer')
  return undefined
}

/**
 * Asks for what the payer does not finish, in case a callback was lost. Inferred: what has run out fails as
 * soon as the operator does not call it pending any more; until then it may still be paid.
 */
async function askStatus({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<Date | undefined> {
  const intent = await readState(tools.dependencies.store, paymentIntent, subject)
  if (intent.status !== 'processing' && intent.status !== 'requires_action') return undefined
  const { operationId } = intent.attempts.at(-1)!
  const isOver = tools.dependencies.clock().getTime() >= Date.parse(intent.expiresAt)
  const state = await statusOf(tools.dependencies.rail, intent, operationId)
  const isTimedOut = isOver && isDenied(state)
  if (!isFinal(state) && !isTimedOut) return later(tools, isOver ? askedLateEveryMs : askedEveryMs)
  const command = isFinal(state) ? commandAfter(operationId, state) : timeout(intent)
  await tools.send(to(paymentIntent, subject, command), { merchant, livemode }, 'timer')
  return undefined
}

/**
 * The payer may have paid a moment before the intent was canceled, and nobody asks for it any more: without
 * the callback of such a payment its money would stay at the operator.
 */
async function askWhetherPaid({ event, tools }: Reaction): Promise<void> {
  const { id, data, metadata } = event as RecordedEvent<PaymentIntentEvents['PaymentIntentCanceled']>
  const { operationId } = data
  if (operationId === null) return
  const intent = created(await readState(tools.dependencies.store, paymentIntent, id))
  const state = await statusOf(tools.dependencies.rail, intent, operationId)
  if (state?.state !== 'succeeded') return
  const { merchant, livemode } = metadata
  const order = to(paymentIntent, id, commandAfter(operationId, state))
  await tools.send(order, { merchant, livemode }, 'rail')
}

function isFinal(state: RailState | undefined): state is RailState {
  return state?.state === 'succeeded' || state?.state === 'failed' || state?.state === 'returned'
}

/**
 * Nothing was taken, and nobody is about to: the operator knows nothing of it, or the payer never came to its
 * page.
 */
function isDenied(state: RailState | undefined): boolean {
  return state?.state === 'never_received' || state?.state === 'redirect'
}

function timeout({ attempts }: CreatedIntent) {
  const { operationId } = attempts.at(-1)!
  return failPayment(operationId, 'payment_timeout', 'The payer did not approve the payment in time')
}

/** `undefined`: the operator does not answer. */
async function statusOf(
  rail: PaymentRail,
  intent: CreatedIntent,
  operationId: string,
): Promise<RailState | undefined> {
  const { livemode } = intent
  const { method } = attemptOf(intent, operationId)
  return rail.status(operationId, { livemode, method }).catch((error: unknown) => {
    if (error instanceof RailTimeoutError || error instanceof RailUnavailableError) return undefined
    throw error
  })
}

/** Money from cards becomes available; what refunds hold meanwhile is looked at again. */
async function release({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<Date> {
  const [payment = '', currency = ''] = subject.split('.')
  const order = to(book, bookId(merchant, livemode, currency), { type: 'ReleasePayment', data: { payment } })
  await tools.send(order, { merchant, livemode }, 'timer')
  return later(tools, releasedEveryMs)
}

function later({ dependencies }: Tools, delayMs: number): Date {
  return new Date(dependencies.clock().getTime() + delayMs)
}
