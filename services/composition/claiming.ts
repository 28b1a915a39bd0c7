import { Refusal, refuse, type RefusalName } from '../../packages/contract/refusals.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import {
  claim,
  claimedName,
  claimOwner,
  isSameHolder,
  type ClaimHolder,
  type ClaimKindName,
} from '../../packages/domain/claims/claim.ts'
import { actingFor, type Envelope } from '../../packages/kernel/envelope.ts'
import { ownerOf } from '../../packages/kernel/owner.ts'

/** The value that a holder must have exclusively. */
export interface WantedClaim {
  readonly kind: ClaimKindName
  readonly value: string
  /** How it is refused when another one has it. */
  readonly refusal: RefusalName
}

/** The holder stores both in its events, to free the claim when it no longer needs it. */
export interface HeldClaim {
  readonly claim: string
  readonly hold: string
}

interface ClaimContext {
  readonly dependencies: Pick<Dependencies, 'executor' | 'blindIndex' | 'newId'>
  readonly envelope: Envelope
}

/** After this long, what a crash left held is kept or freed. */
const heldForMs = 15_000

/**
 * Holds the value, has the holder's stream take it, and keeps it: docs/claims.md. `take` appends to that
 * stream; it is refused there once the sweeper has abandoned the hold.
 */
export async function claiming<Result>(
  context: ClaimContext,
  holder: Pick<ClaimHolder, 'category' | 'id'>,
  { wanted, take }: { wanted: readonly WantedClaim[]; take: (held: readonly HeldClaim[]) => Promise<Result> },
): Promise<Result> {
  const placed: Placed[] = []
  try {
    for (const one of wanted) placed.push(await hold(context, holder, one))
    const result = await take(placed.map(({ claim, hold }) => ({ claim, hold })))
    await sendAll(context, 'KeepClaim', placed)
    return result
  } catch (error) {
    // A refusal has written nothing. After any other failure the outcome is unknown, so the sweeper checks.
    if (error instanceof Refusal) await sendAll(context, 'FreeClaim', placed)
    throw error
  }
}

interface Placed extends HeldClaim {
  readonly kind: ClaimKindName
  /** False for a value that the holder already had. */
  readonly isNew: boolean
}

/** Only the request that placed a hold continues with it, so that it may free it again. */
async function hold(
  { dependencies, envelope }: ClaimContext,
  { category, id }: Pick<ClaimHolder, 'category' | 'id'>,
  { kind, value, refusal }: WantedClaim,
): Promise<Placed> {
  const { executor, blindIndex, newId } = dependencies
  const holder = { category, id, owner: ownerOf(envelope) }
  const stream = await blindIndex(claimedName(kind, value, envelope))
  const data = { kind, holder, hold: newId(), forMs: heldForMs }
  const own = actingFor(claimOwner(kind, envelope), envelope)
  const { state } = await executor.send(claim, stream, { type: 'HoldClaim', data }, own)
  if (state.status === 'free') throw new Error(`claim ${stream} is free after it was held`)
  const isNew = state.hold === data.hold
  if (!isNew && state.status === 'held') refuse('resource_must_not_have_changed', beingTaken)
  if (!isNew && !isSameHolder(state.holder, holder)) refuse(refusal)
  return { kind, claim: stream, hold: state.hold, isNew }
}

const beingTaken = { detail: 'Another request is taking this at the moment', retryAfterSeconds: 1 }

async function sendAll(context: ClaimContext, type: 'KeepClaim' | 'FreeClaim', placed: readonly Placed[]) {
  await Promise.all(placed.filter(({ isNew }) => isNew).map((each) => send(context, type, each)))
}

async function send(
  { dependencies, envelope }: ClaimContext,
  type: 'KeepClaim' | 'FreeClaim',
  { kind, claim: id, hold }: Placed,
): Promise<void> {
  const own = actingFor(claimOwner(kind, envelope), envelope)
  await dependencies.executor.send(claim, id, { type, data: { hold } }, own)
}
