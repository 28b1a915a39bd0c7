import { isGranted, type Caller } from '../../../packages/contract/callers.ts'
import { identity, publicId } from '../../../packages/contract/identity.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Request, Slice } from '../../../packages/contract/routes.ts'
import {
  literals,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  UnixSeconds,
  type Static,
} from '../../../packages/contract/vocabulary.ts'
import { readScopes, webhookTypes } from '../../../packages/domain/index.ts'
import type { PublicEvent } from '../../../packages/kernel/message-ports.ts'
import { maySee, requireSight } from './event-sight.ts'

export const FeedQuery = record({
  after: optional(
    Type.String({ maxLength: 64, description: 'Id or sequence of the last event that was seen' }),
  ),
  cursor: optional(
    Type.String({ maxLength: 64, description: '`next_cursor` of the page before: as `after`' }),
  ),
  'types[]': optional(
    Type.Array(Type.Unsafe<string>({ type: 'string', enum: Object.keys(webhookTypes) }), {
      maxItems: 100,
      description: 'Left out: all whose resources the credential may read',
    }),
  ),
  limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
})

export const EventResource = record({
  id: Type.String(),
  type: Type.String(),
  created: UnixSeconds,
  livemode: Type.Boolean(),
  api_version: Type.String(),
  sequence: Type.Integer({
    description: 'Its place among all events of the merchant in this environment: it only grows',
  }),
  data: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description: 'The resource as it was then',
  }),
})

/**
 * The merchant's events in the order in which they are told: nothing ever appears before an event already
 * returned. A page is filled with what the caller may see; the next one begins where it ends.
 */
export async function feedItems(
  request: Request<undefined, Static<typeof FeedQuery>>,
): Promise<Slice<Static<typeof EventResource>>> {
  const { caller, query, dependencies } = request
  const { merchant, livemode } = caller
  const limit = query.limit ?? 10
  if (query.after !== undefined && query.cursor !== undefined)
    refuseField('request_must_be_valid', 'query:/cursor', 'after and cursor cannot be given together')
  const seen = query.after ?? query.cursor
  const after = seen === undefined ? 0 : await sequenceOf(request, seen)
  const found = await dependencies.publicEvents.feed({
    merchant,
    livemode,
    after,
    types: typesFor(caller, query['types[]']),
    limit: limit + 1,
  })
  const data = found.slice(0, limit).map(({ payload }) => JSON.parse(payload) as Static<typeof EventResource>)
  return { data, hasMore: found.length > limit, next: data.at(-1)?.id ?? null }
}

export async function showEvent(request: Request): Promise<Static<typeof EventResource>> {
  return JSON.parse((await findEvent(request)).payload) as Static<typeof EventResource>
}

export const WebhookDeliveryResource = record({
  object: literals('webhook_delivery'),
  event_id: Type.String(),
  webhook_endpoint_id: Type.String(),
  status: literals('pending', 'succeeded', 'failed', 'skipped'),
  attempts: Type.Integer({ minimum: 0, description: 'How often it was sent' }),
  replay: Type.Boolean({ description: 'Sent because somebody asked for a replay' }),
  next_attempt_at: nullable(Timestamp),
  last_attempt_at: nullable(Timestamp),
  last_status: nullable(Type.Integer({ description: 'HTTP status; null when no answer came' })),
  last_answer: nullable(Type.String({ description: 'First 4 kB of the answer, or why there was none' })),
})

/** Where an event was sent, and what each endpoint answered last. */
export async function deliveryItems(
  request: Request,
): Promise<Slice<Static<typeof WebhookDeliveryResource>>> {
  const { id } = await findEvent(request)
  const found = await request.dependencies.publicEvents.deliveries(id, request.caller)
  const data = found.map((delivery) => ({
    object: 'webhook_delivery' as const,
    event_id: id,
    webhook_endpoint_id: publicId('we', delivery.endpoint),
    status: delivery.status,
    attempts: delivery.attempts,
    replay: delivery.isReplay,
    next_attempt_at: delivery.status === 'pending' ? delivery.dueAt : null,
    last_attempt_at: delivery.lastAttemptAt,
    last_status: delivery.lastStatus,
    last_answer: delivery.lastAnswer,
  }))
  return { data }
}

async function findEvent({ caller, dependencies, params }: Request): Promise<PublicEvent> {
  const id = publicId('evt', params['id'] ?? refuse('resource_must_exist'))
  const event = await dependencies.publicEvents.find(id, caller)
  return event && maySee(caller, event.type) ? event : refuse('resource_must_exist')
}

/** Left out: all current and former ones. */
function typesFor(caller: Caller, asked: readonly string[] | undefined): readonly string[] | undefined {
  requireSight(caller, asked ?? [])
  if (asked || isGranted(caller, '*')) return asked
  return [...readScopes.keys()].filter((type) => maySee(caller, type))
}

/** A place in the feed reveals nothing, so a caller may continue after an event it cannot see. */

async function sequenceOf(
  { caller, dependencies }: Pick<Request, 'caller' | 'dependencies'>,
  after: string,
): Promise<number> {
  if (/^\d{1,15}$/.test(after)) return Number(after)
  const id = identity(after, 'evt')
  const event = id && (await dependencies.publicEvents.find(publicId('evt', id), caller))
  if (!event) refuseField('request_must_be_valid', 'query:/after', 'after names no event of this environment')
  return event.sequence
}
