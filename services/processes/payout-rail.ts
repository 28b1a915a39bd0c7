import { Refusal, type RefusalName } from '../../packages/contract/refusals.ts'
import type { Destination } from '../../packages/domain/payouts/destination-request.ts'
import { failureOf } from '../../packages/domain/payouts/failure.ts'
import type { Word } from '../../packages/domain/payouts/contradictions.ts'
import type { PayoutMoney } from '../../packages/domain/payouts/money.ts'
import type { DelayReason, PayoutEvents } from '../../packages/domain/payouts/events.ts'
import { payout, requested, type PayoutCommands } from '../../packages/domain/payouts/payout.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import {
  RailTimeoutError,
  RailUnavailableError,
  type PaymentRail,
  type RailState,
} from '../../packages/kernel/ports/rails.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import type { Reaction, Tools } from './runner/process.ts'

/** A payout on its way to an operator. */
export interface Disbursement extends MerchantOwner {
  readonly id: string
  readonly money: PayoutMoney
  readonly destination: Destination
}

export interface Reconciliation {
  /** False as soon as the operator may know of it. */
  readonly isFirstTry: boolean
  readonly tools: Tools
}

/**
 * Finds out a payout's result, and submits it if the operator certainly does not have it; the reason why it
 * would be late.
 */
export async function reconcile(disbursement: Disbursement, pursuit: Reconciliation): Promise<DelayReason> {
  const { isFirstTry, tools } = pursuit
  const { rail } = tools.dependencies
  const answer = await queryOrSubmit(rail, disbursement, isFirstTry)
  if (answer === 'down') return 'operator_down'
  if (answer !== 'silent') await report(answer, disbursement, tools)
  if (isFirstTry) return 'unknown'
  if ((await rail.health(requestOf(disbursement))) === 'down') return 'operator_down'
  if (answer === 'silent') return 'operator_timeout'
  return answer.state === 'pending' ? 'operator_pending' : 'unknown'
}

type RailAnswer = RailState | 'silent' | 'down'

/**
 * The operator's answer; `silent` when the outcome is unknown, `down` when certainly nothing has happened. A
 * payout is submitted a second time only after the operator has guaranteed that it does not have it.
 */
async function queryOrSubmit(
  rail: PaymentRail,
  disbursement: Disbursement,
  isFirstTry: boolean,
): Promise<RailAnswer> {
  try {
    const known = isFirstTry ? undefined : await rail.status(disbursement.id, requestOf(disbursement))
    if (known && known.state !== 'never_received') return known
    return await rail.submit(requestOf(disbursement))
  } catch (error) {
    if (error instanceof RailTimeoutError) return 'silent'
    if (error instanceof RailUnavailableError) return 'down'
    throw error
  }
}

function requestOf({ id, merchant, livemode, money, destination }: Disbursement) {
  const { amount, currency } = money
  const what = { amountMinor: amount, currency, method: destination }
  return { reference: id, kind: 'disbursement', merchant, livemode, ...what } as const
}

type Target = Pick<Disbursement, 'id' | 'merchant' | 'livemode'>

const contradictable: readonly RefusalName[] = [
  'payout_must_be_in_transit',
  'payout_must_be_under_way',
  'payout_must_be_paid',
  'payout_must_be_returnable',
]

/** Records the operator's statement about the payout. */
export async function report(result: RailState, target: Target, tools: Tools): Promise<void> {
  const { id, merchant, livemode } = target
  for (const { command, word } of claims(result)) {
    await tools
      .send(to(payout, id, command), { merchant, livemode }, 'rail')
      .catch(async (error: unknown) => {
        if (!(error instanceof Refusal) || !isOfState(error)) throw error
        if (word) await contradict(word, target, tools)
      })
  }
}

/** The rule that was broken is about the status on record. */
function isOfState({ reason }: Refusal): boolean {
  return contradictable.includes(reason)
}

/**
 * Callbacks overtake each other, so a statement against the record counts only if the operator repeats it.
 */
async function contradict(claimed: Word, target: Target, tools: Tools): Promise<void> {
  const { id, merchant, livemode } = target
  const said = await statusNow(id, { merchant, livemode }, tools)
  const word = claims(said).at(-1)?.word
  const data = { word: word ?? claimed, isConfirmed: word !== undefined }
  await tools.send(to(payout, id, { type: 'ContradictResult', data }), { merchant, livemode }, 'rail')
}

async function statusNow(
  id: string,
  { livemode }: MerchantOwner,
  { dependencies }: Tools,
): Promise<RailState> {
  const { destination: method } = requested(await readState(dependencies.store, payout, id))
  return dependencies.rail.status(id, { livemode, method })
}

/** What the operator said while a payout was charged again was no news then: now it may be. */
export async function askAgain({ event, tools }: Reaction): Promise<void> {
  const { id, metadata } = event as RecordedEvent<PayoutEvents['PayoutPaidLate']>
  const { merchant, livemode } = metadata
  const owner = { merchant, livemode }
  await report(await statusNow(id, owner, tools), { id, ...owner }, tools)
}

interface Claim {
  readonly command: Message<PayoutCommands>
  /** Left out: only implied by the next. */
  readonly word?: Word
}

function claims(result: RailState): readonly Claim[] {
  const paid: Claim = { command: { type: 'SettlePayout', data: {} } }
  if (result.state === 'succeeded') return [{ ...paid, word: 'paid' }]
  // Callbacks come in any order, and what came back must have arrived before.
  const returned: Claim = { command: { type: 'ReturnPayout', data: {} }, word: 'returned' }
  if (result.state === 'returned') return [paid, returned]
  if (result.state !== 'failed') return []
  const failure = failureOf(result.code, result.message)
  return [{ command: { type: 'FailPayout', data: { failure } }, word: 'failed' }]
}
