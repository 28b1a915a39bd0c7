import { publicId } from '../../../packages/contract/identity.ts'
import { listed, onePage } from '../../../packages/contract/list-envelope.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import {
  literals,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  type Static,
} from '../../../packages/contract/vocabulary.ts'
import type { EventDelivery } from '../../../packages/kernel/message-ports.ts'
import { ownsEndpoint } from '../../composition/webhook-endpoints.ts'
import { findEvent, sequenceOf, typesFor } from './events.ts'

const statuses = ['pending', 'succeeded', 'failed', 'skipped'] as const

const Delivery = record({
  object: literals('webhook_delivery'),
  event_id: Type.String(),
  webhook_endpoint_id: Type.String(),
  status: literals(...statuses),
  attempts: Type.Integer({ minimum: 0, description: 'How often it was sent' }),
  replay: Type.Boolean({ description: 'Sent because somebody asked for a replay' }),
  next_attempt_at: nullable(Timestamp),
  last_attempt_at: nullable(Timestamp),
  last_status: nullable(Type.Integer({ description: 'HTTP status; null when no answer came' })),
  last_answer: nullable(Type.String({ description: 'First 4 kB of the answer, or why there was none' })),
})

export const Deliveries = listed(Delivery)

export const DeliveryQuery = record({
  status: optional(literals(...statuses)),
  cursor: optional(Type.String({ maxLength: 64, description: '`next_cursor` of the page before' })),
  limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
})

/** Where an event was sent, and each endpoint's last answer. */
export async function listDeliveriesOfEvent(request: Request): Promise<Static<typeof Deliveries>> {
  const { id } = await findEvent(request)
  const found = await request.dependencies.publicEvents.deliveries(id, request.caller)
  return onePage(request.path, found.map(view))
}

/** What an endpoint was sent of the events that the caller may see, and what it answered last. */
export async function listDeliveriesTo(
  request: Request<undefined, Static<typeof DeliveryQuery>>,
): Promise<Static<typeof Deliveries>> {
  const { caller, dependencies, params, query, path } = request
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
  const nextCursor = next === undefined ? null : String(next)
  return {
    object: 'list',
    url: path,
    data: deliveries.map(view),
    has_more: next !== undefined,
    next_cursor: nextCursor,
  }
}

function view(delivery: EventDelivery): Static<typeof Delivery> {
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
