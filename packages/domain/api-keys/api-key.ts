import { begun, existing } from '../../contract/existing.ts'
import { derivedId } from '../../contract/identity.ts'
import { refuse } from '../../contract/refusals.ts'
import { nullable, record, Timestamp, Type } from '../../contract/vocabulary.ts'
import type { Decider, Stamp } from '../../kernel/decider.ts'
import { stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'

/** What a key is: its successor takes over all of it but the secret. */
const Details = {
  /** SHA-256 of the whole key in hex: the key itself is shown once and stored nowhere. */
  hash: Type.String(),
  last4: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  addresses: Type.Array(Type.String()),
  expiresAt: nullable(Timestamp),
}

// Events

export const apiKeyEvents = {
  ApiKeyIssued: stored(2, record(Details), { 1: withoutStamp }),
  /** Another key takes its place at once; until `endsAt` both are good. */
  ApiKeyRolled: stored(1, record({ successor: record(Details), endsAt: Timestamp })),
  ApiKeyRevoked: stored(2, record({ reason: Type.String() }), { 1: withoutStamp }),
  /** Noted about once a day, so that an old key which nobody uses is seen. */
  ApiKeyUsed: stored(1, record({})),
}

export type ApiKeyEvents = EventsOf<typeof apiKeyEvents>

// State

type Issued = Readonly<ApiKeyEvents['ApiKeyIssued']>

export interface ExistingApiKey extends Issued, Stamp {
  readonly status: 'active' | 'revoked'
  /** The key that has taken its place. */
  readonly successor: Issued | null
  /** To the day. */
  readonly usedAt: string | null
}

export type ApiKey = { readonly status: 'none' } | ExistingApiKey

// Decisions

const dayMs = 24 * 3_600_000
/** Inferred: long enough to bring a new key to every machine. */
export const overlapSecondsMax = (7 * dayMs) / 1_000

export type ApiKeyCommands = {
  IssueApiKey: Issued
  RollApiKey: Pick<Issued, 'hash' | 'last4'> & { overlapSeconds: number }
  RevokeApiKey: { reason: string }
  NoteApiKeyUsed: object
}

export const apiKey: Decider<ApiKey, ApiKeyCommands, ApiKeyEvents> = {
  category: 'api_key',
  time: 'real',
  events: apiKeyEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    IssueApiKey(details, { status }) {
      if (status !== 'none') return []
      return [{ type: 'ApiKeyIssued', data: details }]
    },

    RollApiKey({ hash, last4, overlapSeconds }, state, { now }) {
      const { successor, ...key } = existing(state)
      if (successor?.hash === hash) return []
      if (successor || statusOf(existing(state), now) !== 'active') refuse('api_key_must_be_active')
      const { name, scopes, addresses, expiresAt } = key
      const next = { hash, last4, name, scopes, addresses, expiresAt }
      const overlapEnds = now.getTime() + overlapSeconds * 1_000
      const endsAt = Math.min(overlapEnds, expiresAt === null ? Infinity : Date.parse(expiresAt))
      return [{ type: 'ApiKeyRolled', data: { successor: next, endsAt: new Date(endsAt).toISOString() } }]
    },

    RevokeApiKey({ reason }, state) {
      if (existing(state).status === 'revoked') refuse('resource_must_exist')
      return [{ type: 'ApiKeyRevoked', data: { reason } }]
    },

    NoteApiKeyUsed(_, state, { now }) {
      const { usedAt } = existing(state)
      const isNoted = usedAt !== null && now.getTime() < noteNextUseAt(usedAt)
      return isNoted ? [] : [{ type: 'ApiKeyUsed', data: {} }]
    },
  },

  evolve: {
    ApiKeyIssued: (_, details, { merchant, livemode, at }) => {
      return { ...details, merchant, livemode, at, status: 'active', successor: null, usedAt: null }
    },
    ApiKeyRolled: (state, { successor, endsAt }, { at }) => {
      const status = endsAt <= at ? 'revoked' : 'active'
      return { ...begun(state), status, successor, expiresAt: endsAt }
    },
    ApiKeyRevoked: (state) => ({ ...begun(state), status: 'revoked' }),
    ApiKeyUsed: (state, _, { at }) => ({ ...begun(state), usedAt: at }),
  },
}

/** From when on, in milliseconds of Unix time, the next use is noted. */
export function noteNextUseAt(usedAt: string): number {
  return Date.parse(usedAt) + dayMs
}

/** What it is now: a key that was rolled with an overlap ends by itself. */
export function statusOf(
  { status, successor, expiresAt }: ExistingApiKey,
  now: Date,
): 'active' | 'expired' | 'revoked' {
  if (status === 'revoked' || expiresAt === null || now < new Date(expiresAt)) return status
  return successor ? 'revoked' : 'expired'
}

const keys = '5a1f4f0e-5b7d-5c9e-8d7e-2f6f3b1c9a10'

/** A key's stream is found by the key's own hash: authentication needs no read model. */
export function apiKeyId(hash: string): string {
  return derivedId(keys, hash)
}
