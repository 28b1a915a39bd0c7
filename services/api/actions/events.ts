import { identity, publicId } from '../../../packages/contract/identity.ts'
import { refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import {
  literals,
  nullable,
  optional,
  record,
  Type,
  UnixSeconds,
  type Static,
} from '../../../packages/contract/vocabulary.ts'
import { webhookTypes } from '../../../packages/domain/index.ts'

export const FeedQuery = record({
  after: optional(
    Type.String({ maxLength: 64, description: 'Id or sequence of the last event that was seen' }),
  ),
  cursor: optional(
    Type.String({ maxLength: 64, description: '`next_cursor` of the page before: as `after`' }),
  ),
  'types[]': optional(
    Type.Array(Type.Unsafe<string>({ type: 'string', enum: Object.keys(webhookTypes) }), { maxItems: 100 }),
  ),
  limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
})

export const EventResource = record({
  id: Type.String(),
  type: Type.String(),
  created: UnixSeconds,
  livemode: Type.Boolean(),
  api_version: Type.String(),
  sequence: Type.Integer({ description: 'Grows along the feed; not without gaps' }),
  data: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description: 'The resource as it was then',
  }),
})

export const Feed = record({
  object: literals('list'),
  url: Type.String(),
  data: Type.Array(EventResource),
  has_more: Type.Boolean(),
  next_cursor: nullable(Type.String()),
})

/**
 * The events of the merchant in the order in which they happened: nothing ever appears before what was
 * already answered.
 */
export async function listEvents(
  request: Request<undefined, Static<typeof FeedQuery>>,
): Promise<Static<typeof Feed>> {
  const { caller, query, dependencies, path } = request
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
    types: query['types[]'],
    limit: limit + 1,
  })
  const data = found.slice(0, limit).map(({ payload }) => JSON.parse(payload) as Static<typeof EventResource>)
  return {
    object: 'list',
    url: path,
    data,
    has_more: found.length > limit,
    next_cursor: data.at(-1)?.id ?? null,
  }
}

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
