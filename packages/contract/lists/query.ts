import { listed } from './envelope.ts'
import type { AnyRoute } from '../routes.ts'
import { optional, record, Timestamp, Type, type TObject, type TSchema } from '../vocabulary.ts'

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

/** `amount[gte]=5000`: how a column is bounded, and what that asks of its values. */
export const rangeBounds = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

const boundTexts = {
  gt: 'Greater than this value',
  gte: 'This value or greater',
  lt: 'Less than this value',
  lte: 'This value or less',
} as const
const valuesMax = 20

/** `status=paid,failed`: one of several values. A truth value has no others to add. */
function setOf(schema: TSchema): TSchema {
  if (schema['type'] === 'boolean') return schema
  return Type.Array(schema, {
    minItems: 1,
    maxItems: valuesMax,
    description: 'One value, or several with commas between them, of which one has to fit',
  })
}

function boundsOf([name, schema]: readonly [string, TSchema]): readonly (readonly [string, TSchema])[] {
  return Object.entries(boundTexts).map(([bound, description]) => {
    return [`${name}[${bound}]`, optional({ ...schema, description })]
  })
}

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
      Object.entries(route.filter ?? {}).map(([name, schema]) => [name, optional(setOf(schema))]),
    ),
    ...Object.fromEntries(Object.entries(route.ranges ?? {}).flatMap(boundsOf)),
    ...(route.period && { from: optional(Timestamp), to: optional(Timestamp) }),
    ...(route.search && { search: optional(Search) }),
  })
}

/** `types[]` is given once for each value; all other sets are one value with commas. */
export function isRepeated(parameter: string): boolean {
  return parameter.endsWith('[]')
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
export function statusOf({ kind, status }: AnyRoute): 200 | 201 | 202 | 302 {
  return status ?? (kind === 'create' ? 201 : 200)
}

/** Whether the operation changes one stream that its client can have read before. */
export function takesIfMatch({ kind, isChange }: AnyRoute): boolean {
  return kind === 'change' || isChange === true
}

/**
 * Whether people open it by links that they pass on, or by a form of the page there. Whatever links are sent
 * through adds parameters of its own (`fbclid`, `utm_source`), which mean nothing here.
 */
export function isOpenedByLink({ operation, kind, page, form }: AnyRoute): boolean {
  return kind === 'redirect' || form === true || (page !== undefined && operation.startsWith('GET '))
}
