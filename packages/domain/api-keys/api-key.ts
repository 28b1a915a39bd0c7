import { derivedId } from '../../contract/identity.ts'
import { refuse } from '../../contract/refusals.ts'
import { nullable, record, Timestamp, Type } from '../../contract/vocabulary.ts'
import type { Decider, Stamp } from '../../kernel/decider.ts'
import { stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'

// Events

export const apiKeyEvents = {
  ApiKeyIssued: stored(
    2,
    record({
      /** SHA-256 of the whole key in hex: the key itself is shown once and stored nowhere. */
      hash: Type.String(),
      last4: Type.String(),
      name: Type.String(),
      scopes: Type.Array(Type.String()),
      addresses: Type.Array(Type.String()),
      expiresAt: nullable(Timestamp),
    }),
    { 1: withoutStamp },
  ),
  ApiKeyRevoked: stored(2, record({ reason: Type.String() }), { 1: withoutStamp }),
}

export type ApiKeyEvents = EventsOf<typeof apiKeyEvents>

// State

type Details = ApiKeyEvents['ApiKeyIssued'] & Stamp

export type ApiKey = { readonly status: 'none' } | (Details & { readonly status: 'active' | 'revoked' })

// Decisions

export type ApiKeyCommands = {
  IssueApiKey: ApiKeyEvents['ApiKeyIssued']
  RevokeApiKey: { reason: string }
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

    RevokeApiKey({ reason }, { status }) {
      if (status === 'revoked') return []
      if (status === 'none') refuse('resource_must_exist')
      return [{ type: 'ApiKeyRevoked', data: { reason } }]
    },
  },

  evolve: {
    ApiKeyIssued: (_, details, { merchant, livemode, at }) => {
      return { ...details, merchant, livemode, at, status: 'active' }
    },
    ApiKeyRevoked: (state) => ({ ...existing(state), status: 'revoked' }),
  },
}

function existing(state: ApiKey): Details {
  if (state.status === 'none') throw new Error('the stream does not start with ApiKeyIssued')
  return state
}

const keys = '5a1f4f0e-5b7d-5c9e-8d7e-2f6f3b1c9a10'

/** A key's stream is found by the key's own hash: authentication needs no read model. */
export function apiKeyId(hash: string): string {
  return derivedId(keys, hash)
}
