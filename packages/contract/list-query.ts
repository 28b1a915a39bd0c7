import { listed } from './list-envelope.ts'
import type { AnyRoute } from './routes.ts'
import { optional, record, Timestamp, Type, type TObject, type TSchema } from './vocabulary.ts'

const limitMax = 100

const cursors = {
  cursor: optional(Type.String({ description: '`next_cursor` of the page before; of this list only' })),
  starting_after: optional(
    Type.String({ description: 'Id of an item: the page starts behind it, with what is older' }),
  ),
  ending_before: optional(
    Type.String({
      description: 'Id of an item: the page ends before it, with what is newer; it is empty when nothing is',
    }),
  ),
}

const page = Type.Integer({
  minimum: 1,
  maximum: 100_000,
  description: 'Number of the page, from 1; instead of a cursor or an id',
})

/** Shorter ones match almost everything, and no index helps. */
const Search = Type.String({ minLength: 3, maxLength: 256, description: 'A part of what is looked for' })

/** A list's query parameters: its filters, and those of its kind of paging. */
export function listQuery(route: AnyRoute): TObject {
  const byPage = route.paging === 'page'
  const limit = Type.Integer({
    minimum: 1,
    maximum: limitMax,
    default: byPage ? 20 : 10,
    description: 'Items of a page',
  })
  return record({
    limit: optional(limit),
    ...cursors,
    ...(byPage && { page: optional(page) }),
    ...Object.fromEntries(
      Object.entries(route.filter ?? {}).map(([name, schema]) => [name, optional(schema)]),
    ),
    ...(route.period && { from: optional(Timestamp), to: optional(Timestamp) }),
    ...(route.search && { search: optional(Search) }),
  })
}

/** A list's response: the items in an envelope. */
function listOf({ returns, paging }: AnyRoute): TSchema {
  const envelope = listed(returns)
  if (paging !== 'page') return envelope
  return record({
    ...envelope.properties,
    page: Type.Integer(),
    limit: Type.Integer(),
    total_count: Type.Integer(),
  })
}

/** An operation's response when it succeeds. */
export function answerOf(route: AnyRoute): TSchema {
  return route.kind === 'list' ? listOf(route) : route.returns
}

/** The status of that response. */
export function statusOf({ kind, status }: AnyRoute): 200 | 201 | 202 {
  return status ?? (kind === 'create' ? 201 : 200)
}

/** Whether the operation changes one stream that its client can have read before. */
export function takesIfMatch({ kind, isChange }: AnyRoute): boolean {
  return kind === 'change' || isChange === true
}
