import { record, Type } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { PlatformOwner } from '../../kernel/owner.ts'

export const tokenKeyEvents = {
  /** A new Ed25519 key, which signs from now on. */
  TokenKeyMade: stored(1, record({ id: Type.String(), publicKey: Type.String(), sealed: Type.String() })),
  /** The same key, sealed with another master key. */
  TokenKeyResealed: stored(1, record({ id: Type.String(), sealed: Type.String() })),
  /** It may have leaked: what it has signed is good for nothing from now on. */
  TokenKeyRetired: stored(1, record({ id: Type.String(), reason: Type.String() })),
}

export type TokenKeyEvents = EventsOf<typeof tokenKeyEvents>

/** The public key is the `x` of its JWK; the private one is its `d`, sealed. */
export interface TokenKey extends Readonly<TokenKeyEvents['TokenKeyMade']> {
  readonly madeAt: string
}

/** Newest last. */
export interface TokenKeys {
  readonly keys: readonly TokenKey[]
}

export type TokenKeyCommands = {
  /** Decides nothing while the newest is younger than this. */
  MakeTokenKey: TokenKeyEvents['TokenKeyMade'] & { youngerThanMs: number }
  /** `from` is what was opened: another process may have been faster. */
  ResealTokenKey: { id: string; from: string; sealed: string }
  RetireTokenKey: TokenKeyEvents['TokenKeyRetired']
}

const dayMs = 24 * 3_600_000
/** A key signs for so long. */
export const keySignsMs = 90 * dayMs
/** A refresh token lasts 30 days, so a key is good for 31 after its successor came. */
const keptMs = 31 * dayMs

/** The keys that sign what users are handed. */
export const tokenKeys: Decider<TokenKeys, TokenKeyCommands, TokenKeyEvents, PlatformOwner> = {
  category: 'token_key',
  owners: ['platform'],
  time: 'real',
  events: tokenKeyEvents,
  initial: () => ({ keys: [] }),

  decide: {
    MakeTokenKey({ youngerThanMs, ...made }, { keys }, { now }) {
      const newest = keys.at(-1)
      if (newest && now.getTime() - Date.parse(newest.madeAt) < youngerThanMs) return []
      return [{ type: 'TokenKeyMade', data: made }]
    },

    ResealTokenKey({ id, from, sealed }, { keys }) {
      const isKnown = keys.some((key) => key.id === id && key.sealed === from)
      return isKnown ? [{ type: 'TokenKeyResealed', data: { id, sealed } }] : []
    },

    RetireTokenKey: (retired, { keys }) =>
      keys.some(({ id }) => id === retired.id) ? [{ type: 'TokenKeyRetired', data: retired }] : [],
  },

  evolve: {
    TokenKeyMade({ keys }, made, { at }) {
      const goodAt = (index: number) => Date.parse(keys[index + 1]?.madeAt ?? at) + keptMs > Date.parse(at)
      return { keys: [...keys.filter((_, index) => goodAt(index)), { ...made, madeAt: at }] }
    },
    TokenKeyResealed: ({ keys }, { id, sealed }) => ({
      keys: keys.map((key) => (key.id === id ? { ...key, sealed } : key)),
    }),
    TokenKeyRetired: ({ keys }, { id }) => ({ keys: keys.filter((key) => key.id !== id) }),
  },
}

/** There is one stream for the whole service. */
export const tokenKeysId = '00000000-0000-0000-0000-000000000000'

export function tokenKeyContext(id: string): string {
  return `token key/${id}`
}
