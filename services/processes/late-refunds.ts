import type { PaymentIntentEvents } from '../../packages/domain/payment-intents/events.ts'
import {
  paymentIntent,
  type PaymentIntentCommands,
} from '../../packages/domain/payment-intents/payment-intent.ts'
import {
  isLateRefunded,
  lateRefundsOf,
  type LateRefund,
} from '../../packages/domain/payment-intents/late-refunds.ts'
import { attemptOf, created, type PaymentIntent } from '../../packages/domain/payment-intents/state.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { RailMethod, RailRequest, RailState } from '../../packages/kernel/ports/rails.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import type { Reaction, Tools } from './runner/process.ts'
import { reconcileRefund, wordOf } from './rail-refund.ts'

const askedEveryMs = 5 * 60_000

/** Money that arrived after its intent had ended. */
export interface LatePayment extends MerchantOwner {
  readonly paymentIntent: string
  readonly operationId: string
}

/** Such money is returned automatically. */
export async function giveBackLatePayment({ event, mayHaveRun, tools }: Reaction): Promise<void> {
  const { id, data, metadata } = event as RecordedEvent<
    PaymentIntentEvents['PaymentIntentLateSuccessRecorded']
  >
  const { operationId, refund: reference, amount, currency, method } = data
  const { merchant, livemode } = metadata
  const payment = { paymentIntent: id, operationId, merchant, livemode }
  const request = requestOf({ ...payment, reference }, { amount, currency, method })
  const state = await reconcileRefund(tools.dependencies.rail, { request, isFirstTry: !mayHaveRun })
  if (state) await reportLateRefund(state, { ...payment, reference }, tools)
}

/** A return without an immediate answer is followed up until the money is back, or is requested anew. */
export async function askLateRefund(timer: DueTimer, tools: Tools): Promise<Date | undefined> {
  const { subject, merchant, livemode } = timer
  const [id = '', operationId = ''] = subject.split('.')
  const { rail, store, clock } = tools.dependencies
  const intent = created(await readState(store, paymentIntent, id))
  if (isLateRefunded(intent, operationId)) return undefined
  const references = lateRefundsOf(intent, operationId)
  const open = references.find(({ status }) => status === 'requested')
  if (!open) return undefined
  const { amount, currency } = intent
  const payment = { paymentIntent: id, operationId, merchant, livemode }
  const request = requestOf(
    { ...payment, reference: open.reference },
    { amount, currency, method: attemptOf(intent, operationId).method },
  )
  const earlier = references.filter(({ status }) => status === 'failed').map(({ reference }) => reference)
  const mayStart = () => areOver(earlier, { request, payment, tools })
  const state = await reconcileRefund(rail, { request, isFirstTry: false, mayStart })
  if (state) await reportLateRefund(state, { ...payment, reference: open.reference }, tools)
  return new Date(clock().getTime() + askedEveryMs)
}

/**
 * The money is back, while another reference may be under way at the provider: it is asked for until it is
 * over, and never submitted.
 */
export async function askSecondLateRefund(timer: DueTimer, tools: Tools): Promise<Date | undefined> {
  const { subject, merchant, livemode } = timer
  const [id = '', operationId = '', reference = ''] = subject.split('.')
  const { rail, store, clock } = tools.dependencies
  const intent = created(await readState(store, paymentIntent, id))
  if (intent.lateRefunds[reference] !== 'requested') return undefined
  const payment = { paymentIntent: id, operationId, reference, merchant, livemode }
  const { method } = attemptOf(intent, operationId)
  const state = await rail.status(reference, { livemode, method })
  await reportLateRefund(state.state === 'never_received' ? notSubmitted : state, payment, tools)
  return new Date(clock().getTime() + askedEveryMs)
}

/** Whoever submitted it has stopped by now. */
const notSubmitted: RailState = {
  state: 'failed',
  code: 'processing_error',
  message: 'It was not submitted, because the money was already back',
}

interface Following {
  readonly request: RailRequest
  readonly payment: LatePayment
  readonly tools: Tools
}

/** A provider may have thought better of a refusal: a new reference would then pay the payer twice. */
async function areOver(
  references: readonly string[],
  { request, payment, tools }: Following,
): Promise<boolean> {
  for (const reference of references) {
    const state = await tools.dependencies.rail.status(reference, request)
    if (state.state === 'failed' || state.state === 'returned' || state.state === 'never_received') continue
    await reportLateRefund(state, { ...payment, reference }, tools)
    return false
  }
  return true
}

interface Money {
  /** Minor units. */
  readonly amount: number
  readonly currency: string
  readonly method: RailMethod
}

function requestOf(
  { reference, merchant, livemode }: LatePayment & LateRefund,
  { amount: amountMinor, currency, method }: Money,
): RailRequest {
  return { reference, kind: 'refund', merchant, livemode, amountMinor, currency, method }
}

/** Tells the intent the provider's result of one attempt to return late money. */
export async function reportLateRefund(
  state: RailState,
  payment: LatePayment & LateRefund,
  tools: Tools,
): Promise<void> {
  const { paymentIntent: id, operationId, reference, merchant, livemode } = payment
  const send = (command: Message<PaymentIntentCommands>) =>
    tools.send(to(paymentIntent, id, command), { merchant, livemode }, 'rail')
  const word = wordOf(state)
  if (!word) return
  const message = state.state === 'failed' ? state.message : 'The money came back from the payer'
  const told = await send(
    word === 'succeeded'
      ? { type: 'RecordLateRefund', data: { operationId, reference } }
      : { type: 'FailLateRefund', data: { operationId, reference, message } },
  )
  // The executor erases the types of deciders: this is the intent that the command was sent to.
  const intent = created(told.state as PaymentIntent)
  const isOnRecord = intent.lateRefunds[reference] === 'succeeded'
  if (isOnRecord === (word === 'succeeded')) return
  // Callbacks overtake each other, so a statement against the record counts only if the provider repeats it.
  const { method } = attemptOf(intent, operationId)
  const repeated = wordOf(await tools.dependencies.rail.status(reference, { livemode, method }))
  const said = { operationId, reference, word: repeated ?? word, isConfirmed: repeated !== undefined }
  await send({ type: 'ContradictLateRefund', data: said })
}
