import { Refusal } from '../../packages/contract/refusals.ts'
import type { DelayReason } from '../../packages/domain/payouts/events.ts'
import { payout, requested, type Payout, type RequestedPayout } from '../../packages/domain/payouts/payout.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { RailCallback } from '../../packages/kernel/ports/rails.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { askAgain, reconcile, report, type Disbursement } from './payout-rail.ts'
import { payScheduled } from './payout-schedule.ts'
import type { Process, Reaction, Tools } from './runner/process.ts'

export const payoutProcess: Process = {
  reactions: { PayoutSent: submit, PayoutPaidLate: askAgain },
  timers: {
    payout_status: askStatus,
    payout_late: markDelayed,
    payout_schedule: payScheduled,
  },
  callbacks: { disbursement: onRailCallback },
}

/** When the operator does not give a result on submission, the timer `payout_status` asks for it. */
async function submit({ event, mayHaveRun, tools }: Reaction): Promise<void> {
  // Usually this process has just sent it and still knows the destination.
  const { executor, store } = tools.dependencies
  const { state } = executor.remembered(payout, event.id) ?? {
    state: await readState(store, payout, event.id),
  }
  await reconcile(disbursement(event.id, requested(state as Payout)), { isFirstTry: !mayHaveRun, tools })
}

async function onRailCallback(
  { reference, merchant, livemode, result }: RailCallback,
  tools: Tools,
): Promise<void> {
  try {
    await report(result, { id: reference, merchant, livemode }, tools)
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'resource_must_exist') throw error
    // An operator that reports a payout unknown to us would only repeat itself.
    tools.dependencies.log.error({ reference, result }, 'an operator reports an unknown payout')
  }
}

/**
 * Domain model 4: the operator is asked at these times after sending, then hourly, and daily after three
 * days.
 */
const askedAfterMs = [30_000, 2 * 60_000, 5 * 60_000, 15 * 60_000, 60 * 60_000]
const hourMs = 3_600_000
const escalatedAfterMs = 72 * hourMs

async function askStatus({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<Date | undefined> {
  const state = await readState(tools.dependencies.store, payout, subject)
  if (state.status !== 'in_transit') return undefined
  const reason = await reconcile(disbursement(subject, state), { isFirstTry: false, tools })
  const owner = { merchant, livemode }
  // Usually it is not late: then there is nothing to revise, and its stream is not read again.
  if (state.delay) {
    const order = to(payout, subject, { type: 'ReviseDelayReason', data: { reason } })
    await tools.send(order, owner, 'timer')
  }
  const now = tools.dependencies.clock().getTime()
  const sentAt = Date.parse(state.sentAt)
  if (now - sentAt < escalatedAfterMs) return nextAsked(sentAt, now)
  await tools.send(to(payout, subject, { type: 'EscalatePayout', data: {} }), owner, 'timer')
  return new Date(now + 24 * hourMs)
}

function nextAsked(sentAt: number, now: number): Date {
  const early = askedAfterMs.map((delayMs) => sentAt + delayMs).find((time) => time > now)
  return new Date(early ?? sentAt + Math.ceil((now + 1 - sentAt) / hourMs) * hourMs)
}

async function markDelayed({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<undefined> {
  const state = await readState(tools.dependencies.store, payout, subject)
  if (state.status !== 'pending' && state.status !== 'in_transit') return
  const reason =
    state.status === 'in_transit'
      ? await reconcile(disbursement(subject, state), { isFirstTry: false, tools })
      : await whyUnsent(state, tools)
  const order = to(payout, subject, { type: 'MarkDelayed', data: { reason } })
  await tools.send(order, { merchant, livemode }, 'timer')
}

async function whyUnsent(
  { livemode, destination }: RequestedPayout,
  { dependencies }: Tools,
): Promise<DelayReason> {
  return (await dependencies.rail.health({ livemode, method: destination })) === 'down'
    ? 'operator_down'
    : 'unknown'
}

function disbursement(id: string, { merchant, livemode, money, destination }: RequestedPayout): Disbursement {
  return { id, merchant, livemode, money, destination }
}
