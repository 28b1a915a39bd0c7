import { publicId } from '../../../../packages/contract/identity.ts'
import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Request, Slice } from '../../../../packages/contract/routes.ts'
import {
  literals,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import type { EventDelivery } from '../../../../packages/kernel/ports/messages.ts'
import { ownsEndpoint } from '../../../composition/webhook-endpoints.ts'
import { findEvent, sequenceOf, typesFor } from './events.ts'

const statuses = ['pending', 'succeeded', 'failed', 'skipped'] as const

export const WebhookDeliveryResource = record({
  object: literals('webhook_delivery'),
  event_id: Type.String(),
  webhook_endpoint_id: Type.String(),
  status: literals(...statuses),
  attempts: Type.Integer({ minimum: 0, description: 'How often it was sent; only the last answer is kept' }),
  replay: Type.Boolean({ description: 'Sent because somebody asked for a replay' }),
  next_attempt_at: nullable(Timestamp),
  last_attempt_at: nullable(Timestamp),
  last_status: nullable(
    Type.Integer({ description: 'HTTP status of the newest attempt; null when no answer came' }),
  ),
  last_answer: nullable(Type.String({ description: 'First 4 kB of its answer, or why there was none' })),
})

type Delivery = Static<typeof WebhookDeliveryResource>

export const DeliveryQuery = record({
  status: optional(literals(...statuses)),
  cursor: optional(Type.String({ maxLength: 64, description: '`next_cursor` of the page before' })),
  limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
})

/** Where an event was sent, and each endpoint's last answer. */
export async function deliveriesOfEvent(request: Request): Promise<Slice<Delivery>> {
  const { id } = await findEvent(request)
  const found = await request.dependencies.publicEvents.deliveries(id, request.caller)
  return { data: found.map(view) }
}

/** What an endpoint was sent of the events that the caller may see, and what it answered last. */
export async function deliveriesTo(
  request: Request<undefined, Static<typeof DeliveryQuery>>,
): Promise<Slice<Delivery>> {
  const { caller, dependencies, params, query } = request
  const endpoint = params['id'] ?? refuse('resource_must_exist')
  if (!(await ownsEndpoint(dependencies, caller, endpoint))) refuse('resource_must_exist')
  const { merchant, livemode } = caller
  const { deliveries, next } = await dependencies.publicEvents.deliveriesTo({
    endpoint,
    merchant,
    livemode,
    types: typesFor(caller, undefined),
    status: query.status,
    before: query.cursor === undefined ? undefined : await sequenceOf(request, 'cursor', query.cursor),
    limit: query.limit ?? 10,
  })
  return { data: deliveries.map(view), hasMore: next !== undefined, next: next?.toString() ?? null }
}

function view(delivery: EventDelivery): Delivery {
  return {
    object: 'webhook_delivery',
    event_id: delivery.event,
    webhook_endpoint_id: publicId('we', delivery.endpoint),
    status: delivery.status,
    attempts: delivery.attempts,
    replay: delivery.isReplay,
    next_attempt_at: delivery.status === 'pending' ? delivery.dueAt : null,
    last_attempt_at: delivery.lastAttemptAt,
    last_status: delivery.lastStatus,
    last_answer: delivery.lastAnswer,
  }
}
