import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { lateOperationOf } from '../../packages/domain/payment-intents/late-refunds.ts'
import { created } from '../../packages/domain/payment-intents/state.ts'
import type { Word } from '../../packages/domain/refunds/contradictions.ts'
import type { RefundEvents } from '../../packages/domain/refunds/events.ts'
import {
  refund,
  refunds,
  requested,
  type Refund,
  type RefundCommands,
  type RequestedRefund,
} from '../../packages/domain/refunds/refund.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { RailCallback, RailRequest, RailState } from '../../packages/kernel/ports/rails.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import { reportLateRefund } from './late-refunds.ts'
import { operationOf } from './operations.ts'
import type { Process, Reaction, Tools } from './runner/process.ts'
import { reconcileRefund, wordOf } from './rail-refund.ts'

export const refundProcess: Process = {
  reactions: { RefundRequested: submit },
  timers: { refund_status: askStatus, refund_unrequested: release },
  callbacks: { refund: onRailCallback },
}

async function submit({ event, mayHaveRun, tools }: Reaction): Promise<void> {
  const { id, data, metadata } = event as RecordedEvent<RefundEvents['RefundRequested']>
  const { merchant, livemode } = metadata
  const asked = requestOf(id, { merchant, livemode, ...data })
  const state = await reconcileRefund(tools.dependencies.rail, { request: asked, isFirstTry: !mayHaveRun })
  if (state) await report(id, state, { owner: { merchant, livemode }, tools })
}

async function onRailCallback(
  { reference, merchant, livemode, result }: RailCallback,
  tools: Tools,
): Promise<void> {
  const { resource, resource_object } = await operationOf(reference, tools)
  if (resource_object === 'refund') return report(reference, result, { owner: { merchant, livemode }, tools })
  const intent = created(await readState(tools.dependencies.store, paymentIntent, resource))
  const operationId = lateOperationOf(intent, reference)
  if (!operationId) throw new Error(`${reference} is no refund of intent ${resource}`)
  const payment = { paymentIntent: resource, operationId, reference, merchant, livemode }
  await reportLateRefund(result, payment, tools)
}

/**
 * Domain model 4: the operator is asked at these times after the request, then hourly, and daily once it is
 * with support.
 */
const askedAfterMs = [30_000, 2 * 60_000, 5 * 60_000, 15 * 60_000, 60 * 60_000]
const hourMs = 3_600_000
const escalatedAfterMs = 72 * hourMs

async function askStatus({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<Date | undefined> {
  const asked = await readState(tools.dependencies.store, refund, subject)
  if (asked.status !== 'pending') return undefined
  const owner = { merchant, livemode }
  const attempt = { request: requestOf(subject, asked), isFirstTry: false }
  const state = await reconcileRefund(tools.dependencies.rail, attempt)
  if (state) await report(subject, state, { owner, tools })
  const now = tools.dependencies.clock().getTime()
  const requestedAt = Date.parse(asked.createdAt)
  if (now - requestedAt < escalatedAfterMs) return nextAsked(requestedAt, now)
  await tools.send(to(refund, subject, { type: 'EscalateRefund', data: {} }), owner, 'timer')
  return new Date(now + 24 * hourMs)
}

function nextAsked(requestedAt: number, now: number): Date {
  const early = askedAfterMs.map((delayMs) => requestedAt + delayMs).find((time) => time > now)
  return new Date(early ?? now + hourMs)
}

/**
 * Part of a payment was reserved, but no refund of this payment followed: the request was interrupted, or its
 * key was used for another one. The refund's own stream decides who was first; what it has not claimed is
 * released.
 */
async function release({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<undefined> {
  const [id = '', intent = ''] = subject.split('.')
  const owner = { merchant, livemode }
  const command = { type: 'AbandonRefund', data: { paymentIntent: intent } } as const
  await tools.send(to(refund, id, command), owner, 'timer')
  if (refunds(await readState(tools.dependencies.store, refund, id), intent)) return
  await tools.send(to(paymentIntent, intent, { type: 'ReleaseRefund', data: { refund: id } }), owner, 'timer')
}

type Asked = Pick<RequestedRefund, 'merchant' | 'livemode' | 'amount' | 'currency' | 'method'>

function requestOf(id: string, { merchant, livemode, amount, currency, method }: Asked): RailRequest {
  return { reference: id, kind: 'refund', merchant, livemode, amountMinor: amount, currency, method }
}

interface Listener {
  readonly owner: MerchantOwner
  readonly tools: Tools
}

async function report(id: string, state: RailState, listener: Listener): Promise<void> {
  const { owner, tools } = listener
  const command = commandAfter(state)
  const word = wordOf(state)
  if (!command || !word) return
  const { status } = (await tools.send(to(refund, id, command), owner, 'rail')).state as Refund
  if (status !== (word === 'succeeded' ? 'succeeded' : 'failed')) await contradict(id, word, listener)
}

/**
 * Callbacks overtake each other, so a statement against the record counts only if the provider repeats it.
 */
async function contradict(id: string, claimed: Word, { owner, tools }: Listener): Promise<void> {
  const { livemode, method } = requested(await readState(tools.dependencies.store, refund, id))
  const word = wordOf(await tools.dependencies.rail.status(id, { livemode, method }))
  const data = { word: word ?? claimed, isConfirmed: word !== undefined }
  await tools.send(to(refund, id, { type: 'ContradictRefund', data }), owner, 'rail')
}

function commandAfter(state: RailState): Message<RefundCommands> | undefined {
  if (state.state === 'succeeded') return { type: 'SettleRefund', data: {} }
  if (state.state === 'returned') {
    return { type: 'FailRefund', data: { code: 'returned', message: 'The refund came back from the payer' } }
  }
  if (state.state !== 'failed') return undefined
  return { type: 'FailRefund', data: { code: state.code, message: state.message } }
}
