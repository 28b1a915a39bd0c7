import { isGranted, type Caller } from '../../../../packages/contract/access/callers.ts'
import { identity, publicId } from '../../../../packages/contract/identity.ts'
import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request, Slice } from '../../../../packages/contract/routes.ts'
import { optional, record, Type, UnixSeconds, type Static } from '../../../../packages/contract/vocabulary.ts'
import { readScopes, webhookTypes } from '../../../../packages/domain/index.ts'
import type { PublicEvent } from '../../../../packages/kernel/ports/messages.ts'
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
  const [parameter, seen] = query.after === undefined ? ['cursor', query.cursor] : ['after', query.after]
  const after = seen === undefined ? 0 : await sequenceOf(request, parameter, seen)
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

/** As far as the caller may see it. */
export async function findEvent({ caller, dependencies, params }: Request): Promise<PublicEvent> {
  const id = publicId('evt', params['id'] ?? refuse('resource_must_exist'))
  const event = await dependencies.publicEvents.find(id, caller)
  return event && maySee(caller, event.type) ? event : refuse('resource_must_exist')
}

/** Left out: all current and former ones. */
export function typesFor(
  caller: Caller,
  asked: readonly string[] | undefined,
): readonly string[] | undefined {
  requireSight(caller, asked ?? [])
  if (asked || isGranted(caller, '*')) return asked
  return [...readScopes.keys()].filter((type) => maySee(caller, type))
}

/** A place in the feed reveals nothing, so a caller may continue after an event it cannot see. */
export async function sequenceOf(
  { caller, dependencies }: Pick<Request, 'caller' | 'dependencies'>,
  parameter: string,
  value: string,
): Promise<number> {
  if (/^\d{1,15}$/.test(value)) return Number(value)
  const id = identity(value, 'evt')
  const event = id && (await dependencies.publicEvents.find(publicId('evt', id), caller))
  if (event) return event.sequence
  const message = `${parameter} names no event of this environment`
  return refuseField('request_must_be_valid', `query:/${parameter}`, message)
}
