import { about, openCase, sumOf } from '../../packages/domain/cases/policies.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { PaymentIntentEvents } from '../../packages/domain/payment-intents/events.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { paymentTemplates } from '../../packages/domain/payment-intents/policies.ts'
import { commandAfter, failPayment } from '../../packages/domain/payment-intents/operator-answer.ts'
import { recordOf, wasTakenBack } from '../../packages/domain/payment-intents/late-words.ts'
import {
  attemptOf,
  created,
  isLocked,
  type CreatedIntent,
  type PaymentIntent,
} from '../../packages/domain/payment-intents/state.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import {
  RailTimeoutError,
  RailUnavailableError,
  type PaymentRail,
  type RailCallback,
  type RailState,
} from '../../packages/kernel/ports/rails.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { NotYetError } from '../composition/observing/failures.ts'
import { findEntry } from '../composition/books/journal-entries.ts'
import { tryOrOpenCase } from './cases.ts'
import { askLateRefund, askSecondLateRefund, giveBackLatePayment } from './late-refunds.ts'
import { operationOf } from './operations.ts'
import type { Process, Reaction, Tools } from './runner/process.ts'

export const paymentIntentProcess: Process = {
  reactions: {
    PaymentIntentCanceled: askWhetherPaid,
    PaymentIntentLateSuccessRecorded: giveBackLatePayment,
    PaymentIntentResultContradicted: takeBack,
  },
  timers: {
    intent_lock: breakLock,
    intent_status: askStatus,
    canceled_status: askCanceled,
    late_refund: askLateRefund,
    second_late_refund: askSecondLateRefund,
    payment_available: release,
  },
  callbacks: { collection: onRailCallback },
}

/** Domain model 4: operators are asked at steps of 30 s. */
const askedEveryMs = 30_000
/** Inferred: what is still open after its expiry is asked for less often. */
const askedLateEveryMs = 5 * 60_000
const releasedEveryMs = 3_600_000

async function onRailCallback(
  { reference, merchant, livemode, result }: RailCallback,
  tools: Tools,
): Promise<void> {
  const { resource: id } = await operationOf(reference, tools)
  const owner = { merchant, livemode }
  const order = to(paymentIntent, id, commandAfter(reference, result))
  const { state } = await tools.send(order, owner, 'rail')
  // The executor erases the types of deciders: this is the intent that the command was sent to.
  const intent = created(state as PaymentIntent)
  if (result.state === 'succeeded') return confirmAgain(intent, { id, operationId: reference }, tools)
  if (result.state !== 'failed' && result.state !== 'returned') return
  if (recordOf(intent, reference))
    await contradict(intent, { id, operationId: reference, word: result.state }, tools)
}

interface Operation {
  readonly id: string
  readonly operationId: string
}

/** What was taken back is only paid if the provider repeats it: an earlier callback may come again. */
async function confirmAgain(
  intent: CreatedIntent,
  { id, operationId }: Operation,
  tools: Tools,
): Promise<void> {
  if (!wasTakenBack(intent, operationId)) return
  const { merchant, livemode } = intent
  const { method } = attemptOf(intent, operationId)
  const { state } = await tools.dependencies.rail.status(operationId, { livemode, method })
  if (state !== 'succeeded') return
  const data = { operationId, isConfirmed: true }
  await tools.send(to(paymentIntent, id, { type: 'CompletePayment', data }), { merchant, livemode }, 'rail')
}

interface Denial extends Operation {
  readonly word: 'failed' | 'returned'
}

/**
 * Callbacks overtake each other, so a statement against the record counts only if the provider repeats it.
 */
async function contradict(intent: CreatedIntent, denial: Denial, tools: Tools): Promise<void> {
  const { id, operationId } = denial
  const { merchant, livemode } = intent
  const { method } = attemptOf(intent, operationId)
  const { state } = await tools.dependencies.rail.status(operationId, { livemode, method })
  if (state === 'succeeded') return
  const isConfirmed = state === 'failed' || state === 'returned'
  const data = { operationId, word: isConfirmed ? state : denial.word, isConfirmed }
  await tools.send(to(paymentIntent, id, { type: 'ContradictPayment', data }), { merchant, livemode }, 'rail')
}

/** Inferred: what is parked for so long needs people. */
const bookedWithinMs = 86_400_000

/**
 * The payment never happened, or was taken back: the entry that booked it is reversed if the money is there.
 */
async function takeBack({ event, tools }: Reaction): Promise<void> {
  const { id, data, metadata } = event as RecordedEvent<
    PaymentIntentEvents['PaymentIntentResultContradicted']
  >
  if (data.remedy !== 'take_back') return
  const { merchant, livemode } = metadata
  const { operationId, currency, word } = data
  const otherwise = (why: string) => {
    const reason = `The payment has succeeded here, the provider says: ${word}, and it cannot be taken back: ${why}`
    const opened = { ...about('payment_contradicted', 'payment_intent', id), reason, money: sumOf(data) }
    return openCase(opened, `${operationId} ${word}`)
  }
  const owner = { merchant, livemode }
  const bySubject = { column: 'subject', operator: '=', value: id } as const
  // Not what a first try has already posted against it, nor what made the money available.
  const booked = { column: 'template', operator: 'in', value: paymentTemplates } as const
  const entry = await findEntry(tools.dependencies, [bySubject, booked])
  if (!entry) {
    const since = tools.dependencies.clock().getTime() - Date.parse(metadata.at)
    // A policy books it soon after it has succeeded, or once it is no longer parked.
    if (since < bookedWithinMs) throw new NotYetError(`the payment ${id} is not in the book yet`)
    return void (await tools.send(otherwise('it is not in the book'), owner, 'rail'))
  }
  const reverse = { type: 'ReverseEntry', data: { entry: entry.data } } as const
  const order = to(book, bookId(merchant, livemode, currency), reverse)
  if (!(await tryOrOpenCase([order], { owner, tools, otherwise }))) return
  await tools.send(
    to(paymentIntent, id, { type: 'RecordPaymentReturn', data: { operationId } }),
    owner,
    'rail',
  )
}

/** A confirmation's lease has expired without an answer: the provider is asked before anything is retried. */
async function breakLock({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<Date | undefined> {
  const intent = await readState(tools.dependencies.store, paymentIntent, subject)
  if (intent.status === 'none' || !isLocked(intent)) return undefined
  const { operationId, leaseUntil } = intent.attempts.at(-1)!
  // The timer may belong to an earlier attempt: the current holder of the lock may be about to submit.
  const end = new Date(leaseUntil)
  if (tools.dependencies.clock() < end) return end
  const state = await statusOf(tools.dependencies.rail, intent, operationId)
  if (!state) return later(tools, askedEveryMs)
  const order = to(paymentIntent, subject, commandAfter(operationId, state))
  await tools.send(order, { merchant, livemode }, 'timer')
  return undefined
}

/**
 * Asks about what the payer does not finish, in case a callback was lost. Inferred: an expired payment fails
 * as soon as the operator no longer calls it pending; until then it may still be paid.
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
 * The payer may have paid a moment before the intent was canceled: if the callback of such a payment is lost,
 * its money would stay at the operator.
 */
async function askWhetherPaid({ event, tools }: Reaction): Promise<void> {
  const { id, data, metadata } = event as RecordedEvent<PaymentIntentEvents['PaymentIntentCanceled']>
  const { merchant, livemode } = metadata
  if (data.operationId !== null) await settleCancellation(id, { merchant, livemode }, tools)
}

const hourMs = 3_600_000
const askedCanceledAfterMs = [2 * 60_000, 5 * 60_000, 15 * 60_000, 60 * 60_000]
const canceledEscalatedAfterMs = 72 * hourMs

/** Asks again until the operator knows the result, for three days; then it becomes a case. */
async function askCanceled(timer: DueTimer, tools: Tools): Promise<Date | undefined> {
  const { subject, merchant, livemode } = timer
  const owner = { merchant, livemode }
  const canceled = await settleCancellation(subject, owner, tools)
  if (!canceled) return undefined
  const now = tools.dependencies.clock().getTime()
  const canceledAt = Date.parse(canceled.canceledAt)
  if (now - canceledAt >= canceledEscalatedAfterMs) {
    await tools.send(to(paymentIntent, subject, { type: 'EscalateCancellation', data: {} }), owner, 'timer')
    return undefined
  }
  const early = askedCanceledAfterMs.map((delayMs) => canceledAt + delayMs).find((time) => time > now)
  return new Date(early ?? now + hourMs)
}

type Canceled = Extract<CreatedIntent, { status: 'canceled' }>

/** The intent while the result of its last confirmation is unknown. */
async function settleCancellation(
  id: string,
  owner: MerchantOwner,
  tools: Tools,
): Promise<Canceled | undefined> {
  const { dependencies } = tools
  const intent = created(await readState(dependencies.store, paymentIntent, id))
  if (intent.status !== 'canceled' || !intent.open) return undefined
  const { operationId, startedAt } = intent.attempts.at(-1)!
  const state = await statusOf(dependencies.rail, intent, operationId)
  // Until it expires, the payer may still be on the provider's page.
  const isExpired = dependencies.clock().getTime() - Date.parse(startedAt) > hourMs
  const isUnpaid = state?.state === 'succeeded' ? false : isFinal(state) || (isExpired && isDenied(state))
  if (state?.state === 'succeeded') {
    await tools.send(to(paymentIntent, id, commandAfter(operationId, state)), owner, 'rail')
    return undefined
  }
  if (!isUnpaid) return intent
  await tools.send(to(paymentIntent, id, { type: 'SettleCancellation', data: {} }), owner, 'rail')
  return undefined
}

function isFinal(state: RailState | undefined): state is RailState {
  return state?.state === 'succeeded' || state?.state === 'failed' || state?.state === 'returned'
}

/**
 * Nothing was taken, and nothing will be: the operator does not know it, or the payer never reached its page.
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

/** Money from cards becomes available; what refunds hold at that time is checked again. */
async function release({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<Date> {
  const [payment = '', currency = ''] = subject.split('.')
  const order = to(book, bookId(merchant, livemode, currency), { type: 'ReleasePayment', data: { payment } })
  await tools.send(order, { merchant, livemode }, 'timer')
  return later(tools, releasedEveryMs)
}

function later({ dependencies }: Tools, delayMs: number): Date {
  return new Date(dependencies.clock().getTime() + delayMs)
}
