import { publicId } from '../../contract/identity.ts'
import {
  base,
  Identity,
  literals,
  maybe,
  nullable,
  optional,
  proseText,
  record,
  Timestamp,
  Type,
  unbroken,
  unixSeconds,
  Url,
  type Static,
} from '../../contract/vocabulary.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import type { WebhookReplay } from './webhook-replay.ts'

const EnabledEvents = Type.Array(Type.String({ maxLength: 100 }), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'Event types, `prefix.*` or `*`',
})

/** The action checks the URL, because only the outside knows which addresses are reachable. */
const WebhookUrl = Type.String({
  ...unbroken,
  minLength: 1,
  maxLength: 2048,
  description: Url.description ?? 'Absolute URL',
})

export const WebhookEndpointRequest = record({ url: WebhookUrl, enabled_events: optional(EnabledEvents) })

export const WebhookEndpointRevision = record({
  url: optional(WebhookUrl),
  enabled_events: optional(EnabledEvents),
  enabled: optional(Type.Boolean()),
})

/** Inferred: how long the old secret keeps signing; 0 revokes it at once. */
export const SecretRotation = record({
  expires_in: optional(
    Type.Integer({ minimum: 0, maximum: 604_800, description: 'Seconds that the old secret still signs' }),
  ),
})

export const WebhookReplayRequest = record({
  event_id: maybe(Identity),
  webhook_endpoint_id: maybe(Identity),
  reason: maybe(proseText(1000, 'Why, for your own records')),
})

const Secret = Type.String({ pattern: '^whsec_', description: 'Shown in full once' })

const endpointFields = {
  ...base('webhook_endpoint', 'we'),
  url: Type.String(),
  enabled_events: Type.Array(Type.String()),
  enabled: Type.Boolean(),
  status: literals('active', 'failing', 'disabled'),
  secret_last4: Type.String(),
  has_previous_secret: Type.Boolean({ description: 'An older secret signs as well' }),
  rotation_recommended: Type.Boolean({ description: 'The secret is older than 365 days' }),
  secret_created_at: Timestamp,
  secret_rotated_at: nullable(Timestamp),
}

export const WebhookEndpointResource = record(endpointFields)
export const NewWebhookEndpointResource = record({ ...endpointFields, secret: Secret })
export const WebhookEndpointSecretResource = record({
  ...base('webhook_endpoint_secret', 'we'),
  secret: Secret,
  secret_last4: Type.String(),
  secret_rotated_at: Timestamp,
})

export const WebhookReplayResource = record({
  ...base('webhook_replay', 'wr'),
  status: literals('running', 'completed'),
  event_id: nullable(Type.String()),
  webhook_endpoint_id: nullable(Type.String()),
  reason: nullable(Type.String()),
  deliveries: Type.Integer({ minimum: 0 }),
  succeeded: Type.Integer({ minimum: 0 }),
  failed: Type.Integer({ minimum: 0 }),
  completed_at: nullable(Timestamp),
})

const secretAgeRecommendedMs = 365 * 86_400_000

/** Without the secret itself; two fields depend on the time of the request. */
export function viewWebhookEndpoint(
  id: string,
  state: WebhookEndpoint,
  now: Date,
): Static<typeof WebhookEndpointResource> | undefined {
  if (state.status === 'none') return undefined
  const { status, livemode, url, enabledEvents, secret, previous, registeredAt, rotatedAt } = state
  return {
    id: publicId('we', id),
    object: 'webhook_endpoint',
    livemode,
    created: unixSeconds(registeredAt),
    url,
    enabled_events: [...enabledEvents],
    enabled: status !== 'disabled',
    status,
    secret_last4: secret.last4,
    has_previous_secret: previous.some(({ until }) => Date.parse(until) > now.getTime()),
    rotation_recommended: now.getTime() - Date.parse(secret.createdAt) > secretAgeRecommendedMs,
    secret_created_at: secret.createdAt,
    secret_rotated_at: rotatedAt,
  }
}

/** The signing secret in full, and when it is shown. */
export interface SecretAndNow {
  readonly secret: string
  readonly now: Date
}

export function viewNewWebhookEndpoint(
  id: string,
  state: WebhookEndpoint,
  { secret, now }: SecretAndNow,
): Static<typeof NewWebhookEndpointResource> | undefined {
  const shown = viewWebhookEndpoint(id, state, now)
  return shown && { ...shown, secret }
}

export function viewWebhookEndpointSecret(
  id: string,
  state: WebhookEndpoint,
  { secret }: SecretAndNow,
): Static<typeof WebhookEndpointSecretResource> | undefined {
  if (state.status === 'none' || state.rotatedAt === null) return undefined
  return {
    id: publicId('we', id),
    object: 'webhook_endpoint_secret',
    livemode: state.livemode,
    created: unixSeconds(state.registeredAt),
    secret,
    secret_last4: state.secret.last4,
    secret_rotated_at: state.rotatedAt,
  }
}

export function viewWebhookReplay(
  id: string,
  state: WebhookReplay,
): Static<typeof WebhookReplayResource> | undefined {
  if (state.status === 'none') return undefined
  const { status, livemode, event, endpoint, reason, deliveries, at } = state
  const result = state.status === 'completed' ? state : { succeeded: 0, failed: 0, completedAt: null }
  return {
    id: publicId('wr', id),
    object: 'webhook_replay',
    livemode,
    created: unixSeconds(at),
    status,
    event_id: event,
    webhook_endpoint_id: endpoint && publicId('we', endpoint),
    reason,
    deliveries,
    succeeded: result.succeeded,
    failed: result.failed,
    completed_at: result.completedAt,
  }
}
