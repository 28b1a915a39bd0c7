import type { Request as HttpRequestIn } from 'express'
import { isOpenedByLink, listQuery, takesIfMatch } from '../../../../packages/contract/lists/query.ts'
import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../../packages/contract/routes.ts'
import { readBody } from './body.ts'
import { checkBody, checkQuery } from './validate.ts'

// What a request brings, read and checked.

/** PostgreSQL cannot store this character, so nothing can have it in its name. */
export function checkAddress(url: string): void {
  if (url.includes('%00'))
    refuse('request_must_be_valid', { detail: 'The address must not contain the character U+0000' })
}

export function queryParameters(route: AnyRoute, request: HttpRequestIn): Record<string, unknown> {
  const given = request.url.includes('?') ? request.query : {}
  const query = isOpenedByLink(route) ? knownOf(route, given) : given
  const schema = route.kind === 'list' ? (listQueries.get(route) ?? rememberListQuery(route)) : route.query
  if (schema) return checkQuery(schema, query)
  if (Object.keys(query).length > 0) {
    const [name] = Object.keys(query)
    refuseField('request_must_be_valid', `query:/${name}`, `query parameter ${name} is not known here`)
  }
  return {}
}

function knownOf({ query }: AnyRoute, given: HttpRequestIn['query']): HttpRequestIn['query'] {
  const known = query?.properties ?? {}
  return Object.fromEntries(Object.entries(firstOfEach(given)).filter(([name]) => Object.hasOwn(known, name)))
}

/** Of an address that people pass on: who adds to it may repeat what it says. */
export function firstOfEach(query: HttpRequestIn['query']): HttpRequestIn['query'] {
  const firsts = Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value])
  return Object.fromEntries(firsts) as HttpRequestIn['query']
}

const listQueries = new WeakMap<AnyRoute, ReturnType<typeof listQuery>>()

function rememberListQuery(route: AnyRoute): ReturnType<typeof listQuery> {
  const schema = listQuery(route)
  listQueries.set(route, schema)
  return schema
}

export async function bodyOf(
  { bodyArrivalMs }: { readonly bodyArrivalMs: number },
  route: AnyRoute,
  request: HttpRequestIn,
): Promise<object | undefined> {
  if (isRead(request)) return undefined
  const body = await readBody(request, { arrivalMs: bodyArrivalMs, takesForms: route.form ?? false })
  if (!route.body) {
    const isEmpty =
      body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0)
    if (!isEmpty) refuseField('request_must_be_valid', '', 'Body is not accepted here')
    return undefined
  }
  const given = body ?? {}
  checkBody(route.body, given)
  return given
}

/** The revision that a change is bound to; `*` is any, but a change needs one anyway. */
export function ifRevision(route: AnyRoute, request: HttpRequestIn): number | undefined {
  const text = request.headers['if-match']
  if (text === undefined || isRead(request)) return undefined
  const [, revision] = /^"(-1|\d{1,15})"$/.exec(text) ?? []
  if (takesIfMatch(route) && (text === '*' || revision !== undefined))
    return revision === undefined ? undefined : Number(revision)
  const why = takesIfMatch(route)
    ? 'If-Match must be an ETag that was answered'
    : 'If-Match is not accepted here'
  return refuseField('request_must_be_valid', 'header:If-Match', why)
}

/** Reading twice is harmless. */
export function keyHeader(request: HttpRequestIn): string | undefined {
  return isRead(request) ? undefined : (request.headers['idempotency-key'] as string | undefined)
}

/** HEAD is GET without a body. */
export function isRead({ method }: HttpRequestIn): boolean {
  return method === 'GET' || method === 'HEAD'
}
