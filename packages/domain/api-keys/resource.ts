import {
  base,
  choice,
  literals,
  maybe,
  nameText,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  unixSeconds,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import { overlapSecondsMax, statusOf, type ApiKey } from './api-key.ts'

const name = Type.String({ minLength: 1, maxLength: 128, description: 'What people call it' })
const Scope = Type.String({ minLength: 1, maxLength: 64 })
const Block = Type.String({ minLength: 1, maxLength: 64 })
const challengeId = maybe({
  ...Uuid,
  description: 'A verified challenge for `api_key`; required for a live key',
})

// Requests

export const ApiKeyRequest = record({
  name: nameText(128, 'What people call it'),
  environment: choice('sandbox', 'live'),
  scopes: Type.Array(Scope, { minItems: 1, maxItems: 50, description: 'Of those that you have yourself' }),
  ipAllowList: maybe(
    Type.Array(Block, {
      maxItems: 20,
      description: 'Addresses or CIDR blocks that may use it; left out: all',
    }),
  ),
  expiresAt: maybe(Timestamp),
  challengeId,
})

export const ApiKeyRoll = record({
  overlapSeconds: optional(
    Type.Integer({
      minimum: 0,
      maximum: overlapSecondsMax,
      default: 0,
      description: 'How long the old key works beside the new one, in seconds',
    }),
  ),
  challengeId,
})

/** Which environment a key is for, as lists filter by it. */
export const KeyEnvironment = choice('sandbox', 'live')

// Resources

const fields = {
  ...base('api_key'),
  name,
  environment: literals('sandbox', 'live'),
  scopes: Type.Array(Type.String(), { description: 'What it may do; `*` is everything' }),
  last4: Type.String({ description: 'The last four characters of the key' }),
  ip_allow_list: Type.Array(Type.String(), { description: 'Who may use it; empty: everybody' }),
  expires_at: nullable(Timestamp),
  last_used_at: nullable({ ...Timestamp, description: 'To the day' }),
  status: literals('active', 'expired', 'revoked'),
}

export const ApiKeyResource = record(fields)
export const NewApiKeyResource = record({
  ...fields,
  key: Type.String({ description: 'The key itself, shown here and never again' }),
})

export function viewApiKey(id: string, state: ApiKey, now: Date): Static<typeof ApiKeyResource> | undefined {
  if (state.status === 'none') return undefined
  const { livemode, at, scopes, last4, addresses, expiresAt, usedAt } = state
  return {
    id,
    object: 'api_key',
    livemode,
    created: unixSeconds(at),
    name: state.name,
    environment: livemode ? 'live' : 'sandbox',
    scopes: [...scopes],
    last4,
    ip_allow_list: [...addresses],
    expires_at: expiresAt,
    last_used_at: usedAt,
    status: statusOf(state, now),
  }
}

export interface Issued {
  readonly id: string
  readonly state: ApiKey
  readonly key: string
  readonly now: Date
}

/** A new key, with the key itself. */
export function viewNewApiKey({ id, state, key, now }: Issued): Static<typeof NewApiKeyResource> | undefined {
  const shown = viewApiKey(id, state, now)
  return shown && { ...shown, key }
}

export const RevokedApiKey = record({
  id: Uuid,
  object: literals('api_key'),
  deleted: Type.Literal(true),
})

export function viewRevokedApiKey(id: string): Static<typeof RevokedApiKey> {
  return { id, object: 'api_key', deleted: true }
}
