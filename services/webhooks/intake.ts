import { matches } from '../../packages/contract/webhooks/webhook-types.ts'
import { webhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import type { PublicEvent } from '../../packages/kernel/ports/messages.ts'
import { ownerText, type MerchantOwner } from '../../packages/kernel/owner.ts'
import type { ListedEndpoint } from '../composition/webhook-endpoints.ts'
import type { Directory } from './directory.ts'
import type { Match } from './delivery-claims.ts'

/** Which endpoints receive which of these events: by the endpoints as of the newest of them, or later. */
export async function matchEndpoints(
  directory: Directory,
  events: readonly PublicEvent[],
): Promise<readonly Match[]> {
  const keys = events.map(ownerText)
  const owners = new Map<string, MerchantOwner>()
  let position = 0
  for (const [index, event] of events.entries()) {
    owners.set(keys[index]!, event)
    position = Math.max(position, event.position)
  }
  await directory.reach(position)
  const found = await Promise.all(
    [...owners].map(async ([key, owner]) => [key, await directory.enabled(owner)] as const),
  )
  const endpoints = new Map(found)
  const matched: Match[] = []
  for (const [index, event] of events.entries()) {
    for (const endpoint of endpoints.get(keys[index]!) ?? []) {
      if (gets(endpoint, event)) matched.push({ event, endpoint: endpoint.id })
    }
  }
  return matched
}

/**
 * Whether an endpoint receives an event. One that cannot be read receives all that it may be enabled for:
 * what it does not want is skipped when it can be read again.
 */
export function gets(
  { id, created, state, fault }: ListedEndpoint,
  { type, position, resource }: Pick<PublicEvent, 'type' | 'position' | 'resource'>,
): boolean {
  if (created > position) return false
  const isItself = resource === `${webhookEndpoint.category}/${id}`
  // Domain model 6: the other endpoints are told that an endpoint is failing.
  if (type === 'webhook_endpoint.failing' && isItself) return false
  if (type === 'webhook_endpoint.test') return isItself
  if (fault !== undefined) return true
  return state.status !== 'none' && matches(state.enabledEvents, type)
}
