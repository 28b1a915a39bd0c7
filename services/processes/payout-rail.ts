import { Refusal } from '../../packages/contract/refusals.ts'
import type { Destination } from '../../packages/domain/payouts/destination-request.ts'
import { failureOf } from '../../packages/domain/payouts/failure.ts'
import {
  payout,
  type DelayReason,
  type PayoutCommands,
  type PayoutMoney,
} from '../../packages/domain/payouts/payout.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { to } from '../../packages/kernel/policy.ts'
import {
  RailTimeoutError,
  RailUnavailableError,
  type PaymentRail,
  type RailState,
} from '../../packages/kernel/rail-ports.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import type { Tools } from './process.ts'

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

/** Learns what became of a payout, submits it if the operator surely has not got it; why it would be late. */
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
 * What the operator says; `silent` when nobody knows the outcome, `down` when surely nothing has happened. A
 * payout is never submitted a second time but after the operator has guaranteed that it has not got it.
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

/** Tells the payout what the operator says of it. */
export async function report(result: RailState, target: Target, tools: Tools): Promise<void> {
  const { id, merchant, livemode } = target
  for (const { command, claim } of claims(result)) {
    await send(command).catch(async (error: unknown) => {
      if (!(error instanceof Refusal) || error.reason !== 'resource_state_must_allow_it') throw error
      // It cannot be true any more, nor the next time: it is noted for people, and nothing follows from it.
      await send({ type: 'RecordContradiction', data: { claim } })
    })
  }

  function send(command: Message<PayoutCommands>): Promise<unknown> {
    return tools.send(to(payout, id, command), { merchant, livemode }, 'rail')
  }
}

interface Claim {
  readonly command: Message<PayoutCommands>
  readonly claim: PayoutCommands['RecordContradiction']['claim']
}

function claims(result: RailState): readonly Claim[] {
  const paid: Claim = { command: { type: 'SettlePayout', data: {} }, claim: 'paid' }
  if (result.state === 'succeeded') return [paid]
  // Callbacks come in any order, and what came back had arrived before.
  const returned: Claim = { command: { type: 'ReturnPayout', data: {} }, claim: 'returned' }
  if (result.state === 'returned') return [paid, returned]
  if (result.state !== 'failed') return []
  const failure = failureOf(result.code, result.message)
  return [{ command: { type: 'FailPayout', data: { failure } }, claim: 'failed' }]
}
