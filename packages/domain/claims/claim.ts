import { record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import { ownerOf, ownerText, type Owner } from '../../kernel/owner.ts'

// Kinds

interface ClaimKind {
  /** `platform`: one holder anywhere. `owner`: one for each owner. */
  readonly scope: 'platform' | 'owner'
  /** Maps spellings of the same value to one. */
  readonly normalise: (value: string) => string
}

const anyCase = (value: string) => value.trim().toLowerCase()
const asWritten = (value: string) => value

/**
 * What must be unique. The request's schema has checked the values; here only their spelling is normalised.
 */
export const claimKinds = {
  email: { scope: 'platform', normalise: anyCase },
  phone: { scope: 'platform', normalise: asWritten },
  passkey: { scope: 'platform', normalise: asWritten },
  google: { scope: 'platform', normalise: asWritten },
  seller_external_id: { scope: 'owner', normalise: asWritten },
} as const satisfies Readonly<Record<string, ClaimKind>>

export type ClaimKindName = keyof typeof claimKinds

/** Whose stream a claim is. */
export function claimOwner(kind: ClaimKindName, owner: Owner): Owner {
  return claimKinds[kind].scope === 'platform' ? { platform: true } : ownerOf(owner)
}

/** What the name of a claim's stream is derived from; used only in a form that does not reveal it. */
export function claimedName(kind: ClaimKindName, value: string, owner: Owner): string {
  const whose = claimOwner(kind, owner)
  const scope = 'merchant' in whose ? [whose.merchant, whose.livemode] : [ownerText(whose)]
  return JSON.stringify(['claim', kind, ...scope, claimKinds[kind].normalise(value)])
}

// Events

/** The stream that a claim is for, and its owner. */
const Holder = record({
  category: Type.String(),
  id: Type.String(),
  owner: Type.Union([
    record({ merchant: Type.String(), livemode: Type.Boolean() }),
    record({ organization: Type.String() }),
    record({ user: Type.String() }),
    record({ platform: Type.Literal(true) }),
  ]),
})

export const claimEvents = {
  ClaimHeld: stored(2, record({ kind: Type.String(), holder: Holder, hold: Uuid, until: Timestamp }), {
    1: withHoldersOwner,
  }),
  ClaimKept: stored(1, record({ hold: Uuid })),
  ClaimFreed: stored(1, record({ hold: Uuid })),
}

/** Only merchants' streams held anything. */
function withHoldersOwner({ holder, ...held }: Record<string, never>): object {
  const { merchant, livemode, ...stream } = holder as unknown as Record<string, unknown>
  return { ...held, holder: { ...stream, owner: { merchant, livemode } } }
}

export type ClaimEvents = EventsOf<typeof claimEvents>
export type ClaimHolder = ClaimEvents['ClaimHeld']['holder']

// State

export type Claim =
  { readonly status: 'free' } | (ClaimEvents['ClaimHeld'] & { readonly status: 'held' | 'kept' })

// Decisions. First come, first served; the state says who was first.

export type ClaimCommands = {
  /** `hold` identifies this attempt. */
  HoldClaim: { kind: ClaimKindName; holder: ClaimHolder; hold: string; forMs: number }
  KeepClaim: { hold: string }
  FreeClaim: { hold: string }
}

export const claim: Decider<Claim, ClaimCommands, ClaimEvents, Owner> = {
  category: 'claim',
  owners: ['merchant', 'organization', 'user', 'platform'],
  events: claimEvents,
  initial: () => ({ status: 'free' }),

  decide: {
    HoldClaim({ forMs, ...asked }, { status }, { now }) {
      if (status !== 'free') return []
      const until = new Date(now.getTime() + forMs).toISOString()
      return [{ type: 'ClaimHeld', data: { ...asked, until } }]
    },

    KeepClaim({ hold }, state) {
      if (state.status !== 'held' || state.hold !== hold) return []
      return [{ type: 'ClaimKept', data: { hold } }]
    },

    FreeClaim({ hold }, state) {
      if (state.status === 'free' || state.hold !== hold) return []
      return [{ type: 'ClaimFreed', data: { hold } }]
    },
  },

  evolve: {
    ClaimHeld: (_, held) => ({ ...held, status: 'held' }),
    ClaimKept: (state) => ({ ...held(state), status: 'kept' }),
    ClaimFreed: () => ({ status: 'free' }),
  },
}

function held(state: Claim): Exclude<Claim, { status: 'free' }> {
  if (state.status === 'free') throw new Error('nobody holds this claim')
  return state
}

export function isSameHolder(one: ClaimHolder, other: ClaimHolder): boolean {
  return one.category === other.category && one.id === other.id
}
