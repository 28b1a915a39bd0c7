import { identity, publicId } from '../../../../packages/contract/identity.ts'
import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import { webhookTypes } from '../../../../packages/domain/index.ts'
import { isEnabledFor, missedBy } from '../../../../packages/domain/webhook-endpoints/replay-scope.ts'
import type { WebhookReplayRequest } from '../../../../packages/domain/webhook-endpoints/resource.ts'
import type { WebhookReplayCommands } from '../../../../packages/domain/webhook-endpoints/webhook-replay.ts'
import type { PublicEvent } from '../../../../packages/kernel/ports/messages.ts'
import {
  enabledEndpoints,
  readEndpoint,
  type ListedEndpoint,
} from '../../../composition/webhook-endpoints.ts'
import { refuseUnknown } from '../../kinds/prefixes.ts'
import { maySee } from './event-sight.ts'

type Asker = Pick<Request, 'dependencies' | 'caller'>

/**
 * Spec, Events: a past event can be replayed to an endpoint. The webhook service does it; here it is only
 * requested.
 */
export async function prepareReplay(
  request: Request<Static<typeof WebhookReplayRequest>>,
): Promise<WebhookReplayCommands['RequestReplay']> {
  const { body } = request
  const event = body.event_id ? await findEvent(request, body.event_id) : undefined
  const endpoint = body.webhook_endpoint_id
    ? await findEndpoint(request, body.webhook_endpoint_id)
    : undefined
  const deliveries = await countDeliveries(request, event, endpoint)
  return { event: event?.id ?? null, endpoint: endpoint?.id ?? null, reason: body.reason ?? null, deliveries }
}

/** How many there are to send now; on completion the replay says how many there were. */
async function countDeliveries(
  asker: Asker,
  event?: PublicEvent,
  endpoint?: ListedEndpoint,
): Promise<number> {
  const { dependencies, caller } = asker
  if (event && endpoint) return 1
  if (event) {
    const endpoints = await enabledEndpoints(dependencies, caller)
    return endpoints.filter(({ state }) => isEnabledFor(state, event.type)).length
  }
  if (!endpoint) return 0
  const { merchant, livemode } = caller
  const missed = missedBy(endpoint.state, dependencies.clock(), Object.keys(webhookTypes))
  const bounds = { after: endpoint.created, through: await dependencies.store.head() }
  return dependencies.publicEvents.countMissed({
    endpoint: endpoint.id,
    merchant,
    livemode,
    ...missed,
    ...bounds,
  })
}

async function findEvent({ dependencies, caller }: Asker, text: string): Promise<PublicEvent> {
  const id = identity(text, 'evt')
  const event = id && (await dependencies.publicEvents.find(publicId('evt', id), caller))
  return event && maySee(caller, event.type) ? event : refuseUnknown('/event_id', 'event', text)
}

async function findEndpoint({ dependencies, caller }: Asker, text: string): Promise<ListedEndpoint> {
  const id = identity(text, 'we')
  const endpoint = id && (await readEndpoint(dependencies, caller, id))
  if (!endpoint) refuseUnknown('/webhook_endpoint_id', 'webhook_endpoint', text)
  if (endpoint.state.status === 'disabled') refuse('webhook_endpoint_must_be_enabled')
  return endpoint
}
