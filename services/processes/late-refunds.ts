import type { PaymentIntentEvents } from '../../packages/domain/payment-intents/events.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { attemptOf, created, lateRefundIdOf } from '../../packages/domain/payment-intents/state.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { RailRequest, RailState } from '../../packages/kernel/rail-ports.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import type { Reaction, Tools } from './process.ts'
import { pursueRefund } from './rail-refund.ts'

const askedEveryMs = 5 * 60_000

/** Money that arrived when its intent was over. */
export interface LatePayment extends MerchantOwner {
  readonly paymentIntent: string
  readonly operationId: string
}

/** What arrived when its intent was over is given back by itself. */
export async function giveBackLatePayment({ event, mayHaveRun, tools }: Reaction): Promise<void> {
  const { id, data, metadata } = event as RecordedEvent<
    PaymentIntentEvents['PaymentIntentLateSuccessRecorded']
  >
  const { operationId, refund: reference, amount, currency, method } = data
  const { merchant, livemode } = metadata
  const payment = { paymentIntent: id, operationId, merchant, livemode }
  await giveBack(payment, { reference, amount, currency, method, isFirstTry: !mayHaveRun, tools })
}

/** What the provider did not say at once is asked until the money is back. */
export async function askLateRefund({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<Date> {
  const [id = '', operationId = ''] = subject.split('.')
  const intent = created(await readState(tools.dependencies.store, paymentIntent, id))
  const { amount, currency } = intent
  const { method } = attemptOf(intent, operationId)
  const reference = lateRefundIdOf(operationId)
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
  const state = await pursueRefund(tools.dependencies.rail, request, isFirstTry)
  if (state) await reportLateRefund(state, payment, tools)
}

/**
 * Tells the intent what the provider says. A provider that keeps the money is a matter for people, so it is
 * not passed over.
 */
export async function reportLateRefund(state: RailState, payment: LatePayment, tools: Tools): Promise<void> {
  const { paymentIntent: id, operationId, merchant, livemode } = payment
  if (state.state === 'failed' || state.state === 'returned') {
    throw new Error(`the provider keeps what was paid late by operation ${operationId} of intent ${id}`)
  }
  if (state.state !== 'succeeded') return
  const order = to(paymentIntent, id, { type: 'RecordLateRefund', data: { operationId } })
  await tools.send(order, { merchant, livemode }, 'rail')
}
