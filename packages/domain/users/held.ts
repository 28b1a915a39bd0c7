import { refuse } from '../../contract/refusals.ts'
import { record, Type, type Static } from '../../contract/vocabulary.ts'

/** A claim that makes an address, a number or a key this user's alone: docs/claims.md. */
export const Held = record({ claim: Type.String(), hold: Type.String() })
export type Held = Readonly<Static<typeof Held>>

export interface Holding {
  readonly held: readonly Held[]
  /** Holds that were given up: nobody came for them in time, or their user has left what they held. */
  readonly abandoned: readonly string[]
}

/** What was left is about to be free: whoever comes again in a moment holds it anew. */
export function refuseAbandoned(held: readonly Held[], { abandoned }: Pick<Holding, 'abandoned'>): void {
  if (held.some(({ hold }) => abandoned.includes(hold)))
    refuse('resource_must_not_have_changed', { retryAfterSeconds: 1 })
}

/** What is held of one claim: nothing where there is no such claim. */
export function heldOf({ held }: Pick<Holding, 'held'>, name: string | undefined): Held[] {
  return held.filter(({ claim }) => claim === name)
}

/**
 * What is held once some is freed and some added; a claim that is held anew replaces the older hold. What is
 * freed is somebody else's at any moment, so its hold is good for nothing any more.
 */
export function holding(
  { held, abandoned }: Holding,
  { freed = [], added = [] }: { readonly freed?: readonly Held[]; readonly added?: readonly Held[] },
): Holding {
  const gone = new Set([...freed, ...added].map(({ claim }) => claim))
  return {
    held: [...held.filter(({ claim }) => !gone.has(claim)), ...added],
    abandoned: [...abandoned, ...freed.map(({ hold }) => hold)],
  }
}
