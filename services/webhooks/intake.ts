import { matches } from '../../packages/contract/webhook-types.ts'
import { webhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import type { PublicEvent } from '../../packages/kernel/message-ports.ts'
import type { Directory, Endpoint, Owner } from './directory.ts'
import type { Match } from './hands.ts'

/** Which endpoints get which of these events: as the endpoints stood at the newest of them, or later. */
export async function matchEndpoints(
  directory: Directory,
  events: readonly PublicEvent[],
): Promise<readonly Match[]> {
  const position = Math.max(...events.map(({ sequence }) => sequence))
  const owners = new Map<string, Owner>()
  for (const { merchant, livemode } of events)
    owners.set(ownerKey({ merchant, livemode }), { merchant, livemode })
  const found = await Promise.all(
    [...owners].map(async ([key, owner]) => [key, await directory.at(owner, position)] as const),
  )
  const endpoints = new Map(found)
  return events.flatMap((event) =>
    (endpoints.get(ownerKey(event)) ?? [])
      .filter((endpoint) => gets(endpoint, event))
      .map(({ id }) => ({ event, endpoint: id })),
  )
}

function gets({ id, created, state }: Endpoint, { type, sequence, resource }: PublicEvent): boolean {
  if (state.status === 'disabled' || created > sequence) return false
  /** Domain model 6: that an endpoint is failing is told to the others. */
  if (type === 'webhook_endpoint.failing' && resource === `${webhookEndpoint.category}/${id}`) return false
  return matches(state.enabledEvents, type)
}

function ownerKey({ merchant, livemode }: Owner): string {
  return `${merchant}.${livemode}`
}
