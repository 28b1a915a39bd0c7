import { claim, type Claim } from '../../packages/domain/claims/claim.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
import { ownerOf, type Owner } from '../../packages/kernel/owner.ts'
import { to, type PolicyCommand } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import type { Process, Tools } from './runner/process.ts'

type Hold = Exclude<Claim, { status: 'free' }>

/** How one kind of stream takes claims, for those that a crash left held. */
export interface ClaimTaker {
  readonly decider: AnyDecider
  /** After it the stream has taken what was held, or never will: a request still in progress is refused. */
  readonly abandon: (id: string, hold: { readonly claim: string; readonly hold: string }) => PolicyCommand
  /** Whether the stream has taken it. */
  readonly has: (state: never, hold: { readonly claim: string; readonly hold: string }) => boolean
}

/** Keeps or frees what a crash left held. The holder's own stream decides who was first. */
export function claimProcess(takers: readonly ClaimTaker[]): Process {
  const byCategory = new Map(takers.map((taker) => [taker.decider.category, taker]))
  return {
    timers: { claim_held: (timer, tools) => settle(timer, byCategory, tools) },
  }
}

async function settle(
  timer: DueTimer<Owner>,
  takers: ReadonlyMap<string, ClaimTaker>,
  tools: Tools,
): Promise<undefined> {
  const { subject: id } = timer
  const state = await readState(tools.dependencies.store, claim, id)
  if (state.status !== 'held') return
  const taker = takers.get(state.holder.category)
  if (!taker) throw new Error(`nobody knows how ${state.holder.category} takes claims`)
  const isTaken = await isTakenBy(taker, { id, state }, tools)
  const type = isTaken ? 'KeepClaim' : 'FreeClaim'
  await tools.send(to(claim, id, { type, data: { hold: state.hold } }), ownerOf(timer), 'timer')
}

interface HeldClaim {
  readonly id: string
  readonly state: Hold
}

async function isTakenBy(taker: ClaimTaker, { id, state }: HeldClaim, tools: Tools): Promise<boolean> {
  const hold = { claim: id, hold: state.hold }
  await tools.send(taker.abandon(state.holder.id, hold), state.holder.owner, 'timer')
  const now: unknown = await readState(tools.dependencies.store, taker.decider, state.holder.id)
  return taker.has(now as never, hold)
}
