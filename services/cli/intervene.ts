import { Refusal } from '../../packages/contract/refusals.ts'
import { derivedId } from '../../packages/contract/identity.ts'
import { intervention, type Intervention } from '../../packages/domain/interventions/intervention.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import type { PolicyCommand } from '../../packages/kernel/policy.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { print } from './terminal/output.ts'
import type { Signed } from './audit/signed.ts'

/** One intervention of support on one resource. */
export interface Act {
  /** As the command line spells it. */
  readonly action: string
  readonly id: string
  /** Its public id. */
  readonly subject: string
  readonly owner: MerchantOwner
  readonly money: { readonly amount: number; readonly currency: string } | null
  /** Commands in order; each is harmless when repeated. */
  readonly orders: readonly PolicyCommand[]
  /**
   * What tells apart two interventions of one kind on one resource: a second name approves only what the
   * first has proposed. Part of the intervention's id.
   */
  readonly occasion?: string
  /** Parameters beside the commands. */
  readonly also?: () => Promise<void>
}

/** Signs the intervention, and carries it out once it has enough names. */
export async function intervene(runtime: Runtime, act: Act, options: Signed): Promise<void> {
  const { action, id, subject, owner, money, orders, occasion = '' } = act
  const { executor, newId } = runtime.dependencies
  const envelope = { ...owner, actor: `cli:${options.by}`, correlation: newId() }
  const data = { action, subject, money, by: options.by, reason: options.reason }
  const sign = { type: 'SignIntervention', data } as const
  const signedId = derivedId(id, `${action} ${occasion}`.trim())
  const { state } = await told(executor.send(intervention, signedId, sign, envelope))
  const { status } = state as Intervention
  if (status === 'approved') {
    await act.also?.()
    for (const { decider, id, command } of orders) {
      await told(executor.sendAll(decider, id, [{ command, envelope }]))
    }
  }
  print({ action, subject, status }, options, () => sentence(act, status))
}

function sentence({ action, subject }: Act, status: Intervention['status']): string {
  if (status === 'approved') return `${action} ${subject}: done.`
  return `${action} ${subject}: proposed. It takes a second name: the same command with another --by approves it.`
}

/** A refusal is shown as one sentence. */
async function told<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal) throw new CommandFailedError(error.message)
    throw error
  }
}
