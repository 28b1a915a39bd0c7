import { matches } from '../../contract/webhooks/webhook-types.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

/** Inferred: an endpoint can be sent again what it missed in the last 30 days. */
const missedForMs = 30 * 86_400_000

/** Without an endpoint, an event is replayed to all endpoints that would receive it now. */
export function isEnabledFor(endpoint: WebhookEndpoint, type: string): boolean {
  if (endpoint.status === 'none' || endpoint.status === 'disabled') return false
  return matches(endpoint.enabledEvents, type)
}

/** Without an event, an endpoint is sent what it missed of the types that it is enabled for now. */
export function missedBy(
  endpoint: WebhookEndpoint,
  at: Date,
  known: readonly string[],
): { readonly types: readonly string[]; readonly since: string } {
  const types = known.filter((type) => isEnabledFor(endpoint, type))
  return { types, since: new Date(at.getTime() - missedForMs).toISOString() }
}
