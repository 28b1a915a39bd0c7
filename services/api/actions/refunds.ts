import { setTimeout as pause } from 'node:timers/promises'
import { choiceOf, requireRail } from '../../../packages/contract/payments/rails.ts'
import { Refusal, refusals, refuse } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import { bookId } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import type { PlaceHold } from '../../../packages/domain/ledger/commands.ts'
import type { Share } from '../../../packages/domain/ledger/plans.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import {
  attemptOf,
  type CreatedIntent,
  type PaymentIntent,
} from '../../../packages/domain/payment-intents/state.ts'
import { refund, refunds } from '../../../packages/domain/refunds/refund.ts'
import { viewRefund, type RefundRequest, type RefundView } from '../../../packages/domain/refunds/resource.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { paymentIntents } from '../../../projections/payment-intents.ts'
import { placeHold } from '../../composition/books/place-hold.ts'
import { currentState } from '../kinds/current-state.ts'

type RefundCall = Request<Static<typeof RefundRequest>>
type PaidIntent = Extract<CreatedIntent, { status: 'succeeded' }>

/**
 * Three streams, in this order: part of the payment is reserved, money is held, the refund is requested. A
 * crash in between is repaired by the repeat with the same key, or by the timers `refund_unrequested` and
 * `hold_unclaimed`.
 */
export async function refundPayment(request: RefundCall): Promise<RefundView> {
  if (request.caller.livemode) await requireRailBack(request)
  const paid = await reserve(request)
  try {
    return await refundReserved(request, paid)
  } catch (error) {
    if (error instanceof Refusal && !refusals[error.reason][2]) await giveUp(request)
    throw error
  }
}

async function refundReserved(request: RefundCall, paid: PaidIntent): Promise<RefundView> {
  const { payment, currency } = paid
  const { amount, shares } = payment.refunds[request.id]!
  await hold(request, paid, shares)
  const data = {
    paymentIntent: request.params['id']!,
    amount,
    currency,
    rail: payment.rail,
    shares: [...shares],
    reason: request.body.reason ?? null,
    method: attemptOf(paid, payment.operationId).method,
  }
  const { state } = await request.send(refund, request.id, { type: 'RequestRefund', data })
  return viewRefund(request.id, state) ?? refuse('resource_must_exist')
}

/** Money returns by the rail it came in by; if that rail is gone, nothing may stay reserved. */
async function requireRailBack({ caller, owner, dependencies, params }: RefundCall): Promise<void> {
  // The read model's states are those of its decider.
  const state = (await currentState({ owner, dependencies }, paymentIntents, params['id']!)) as
    PaymentIntent | undefined
  if (state?.status !== 'succeeded') return
  const { method } = attemptOf(state, state.payment.operationId)
  requireRail(dependencies.rail, choiceOf({ livemode: caller.livemode, method }))
}

async function reserve(request: RefundCall): Promise<PaidIntent> {
  const data = { refund: request.id, amount: request.body.amount ?? undefined }
  const command = { type: 'ReserveRefund', data } as const
  const { state } = await request.send(paymentIntent, request.params['id']!, command, { mustExist: true })
  return state.status === 'succeeded' ? state : refuse('payment_must_be_refundable')
}

async function hold(request: RefundCall, paid: PaidIntent, shares: readonly Share[]): Promise<void> {
  const { payment, currency, merchant, livemode } = paid
  const { id, dependencies } = request
  const noFee = { fee: 0, feeAccount: null, rail: payment.rail }
  const parts = shares.map(({ account, amount }) => ({ id: account, source: account, amount, ...noFee }))
  const data: PlaceHold = {
    template: parts.length === 1 ? 'refund.hold' : 'order.refund_hold',
    subject: { type: 'refund', id },
    owner: streamName(refund.category, id),
    parts,
    payment: request.params['id']!,
  }
  const inBook = bookId(merchant, livemode, currency)
  const place = () =>
    placeHold(dependencies.store, data, (options) => {
      return request.send(book, inBook, { type: 'PlaceHold', data }, options)
    })
  await whileMoneyArrives(
    place,
    Date.parse(payment.succeededAt) - dependencies.clock(request.caller).getTime(),
  )
}

/**
 * The same request may be further ahead in another process, so the refund's own stream decides: a refund it
 * has given up is never requested, and what was reserved for that, or by another request with its key, is
 * freed.
 */
async function giveUp(request: RefundCall): Promise<void> {
  const intent = request.params['id']!
  const abandon = { type: 'AbandonRefund', data: { paymentIntent: intent } } as const
  const { state } = await request.send(refund, request.id, abandon)
  if (refunds(state, intent)) return
  await request.send(paymentIntent, intent, { type: 'ReleaseRefund', data: { refund: request.id } })
}

const arrivesWithinMs = 5_000
const triesMax = 20
const betweenTriesMs = 50

/**
 * A payment that has just succeeded reaches the book a moment later, so an insufficient balance is checked
 * again.
 */
async function whileMoneyArrives(place: () => Promise<unknown>, sinceMs: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await place()
      return
    } catch (error) {
      const isUncovered = error instanceof Refusal && error.reason === 'balance_must_cover_the_refund'
      if (!isUncovered || tries === triesMax || -sinceMs > arrivesWithinMs) throw error
      await pause(betweenTriesMs)
    }
  }
}
