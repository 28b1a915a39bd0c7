import type { PaymentIntentEvents } from '../../packages/domain/payment-intents/events.ts'
import {
  paymentIntent,
  type PaymentIntentCommands,
} from '../../packages/domain/payment-intents/payment-intent.ts'
import {
  attemptOf,
  created,
  lateRefundFailures,
  lateRefundIdOf,
} from '../../packages/domain/payment-intents/state.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { RailRequest, RailState } from '../../packages/kernel/rail-ports.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import type { Reaction, Tools } from './process.ts'
import { reconcileRefund } from './rail-refund.ts'

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
  await giveBack(payment, { reference, amount, currency, method, isFirstTry: !mayHaveRun, tools })
}

/** A return without an immediate answer is followed up until the money is back, or is requested anew. */
export async function askLateRefund(timer: DueTimer, tools: Tools): Promise<Date | undefined> {
  const { subject, merchant, livemode } = timer
  const [id = '', operationId = ''] = subject.split('.')
  const intent = created(await readState(tools.dependencies.store, paymentIntent, id))
  if (intent.lateRefunded.includes(operationId)) return undefined
  const { amount, currency } = intent
  const { method } = attemptOf(intent, operationId)
  const reference = lateRefundIdOf(operationId, lateRefundFailures(intent, operationId))
  const payment = { paymentIntent: id, operationId, merchant, livemode }
  await giveBack(payment, { reference, amount, currency, method, isFirstTry: false, tools })
  return new Date(tools.dependencies.clock().getTime() + askedEveryMs)
}

interface LateRefund extends Pick<RailRequest, 'reference' | 'currency' | 'method'> {
  /** Minor units. */
  readonly amount: number
  readonly isFirstTry: boolean
  readonly tools: Tools
}

async function giveBack(payment: LatePayment, errand: LateRefund): Promise<void> {
  const { merchant, livemode } = payment
  const { reference, amount: amountMinor, currency, method, isFirstTry, tools } = errand
  const request = { reference, kind: 'refund', merchant, livemode, amountMinor, currency, method } as const
  const state = await reconcileRefund(tools.dependencies.rail, request, isFirstTry)
  if (state) await reportLateRefund(state, { ...payment, reference }, tools)
}

/** Tells the intent the provider's result of one attempt to return late money. */
export async function reportLateRefund(
  state: RailState,
  payment: LatePayment & { readonly reference: string },
  tools: Tools,
): Promise<void> {
  const { paymentIntent: id, operationId, reference, merchant, livemode } = payment
  const send = (command: Message<PaymentIntentCommands>) =>
    tools.send(to(paymentIntent, id, command), { merchant, livemode }, 'rail')
  if (state.state === 'succeeded') {
    await send({ type: 'RecordLateRefund', data: { operationId, reference } })
  } else if (state.state === 'failed' || state.state === 'returned') {
    const message = state.state === 'failed' ? state.message : 'The money came back from the payer'
    await send({ type: 'FailLateRefund', data: { operationId, reference, message } })
  }
}
