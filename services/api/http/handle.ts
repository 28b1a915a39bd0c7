import type { Request as HttpRequestIn, Response as HttpResponse } from 'express'
import { listQuery, takesIfMatch } from '../../../packages/contract/list-query.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { AnyRoute, Caller, Dependencies } from '../../../packages/contract/routes.ts'
import type { Envelope } from '../../../packages/kernel/envelope.ts'
import { pathParameters, withKind } from '../kinds/prefixes.ts'
import { answer } from './answer.ts'
import { requireScope, type Authentication } from './authenticate.ts'
import { readBody } from './body.ts'
import type { ClientAddress } from './client-address.ts'
import { keyOf, type Keyed } from '../kinds/idempotency.ts'
import type { RateLimit } from './rate-limit.ts'
import { HttpRequest } from './request.ts'
import type { Reply } from './respond.ts'
import { checkBody, checkQuery } from './validate.ts'
import type { LastWrites } from '../kinds/writes.ts'

export interface Api {
  readonly dependencies: Dependencies
  readonly authentication: Authentication
  readonly addressOf: ClientAddress
  readonly rateLimit: RateLimit
  readonly requireEnvironmentHeader: boolean
  readonly writes: LastWrites
  /** In which a body must have arrived. */
  readonly bodyArrivalMs: number
}

/** Nobody: the caller of public operations. */
const nobody: Caller = { merchant: '00000000-0000-0000-0000-000000000000', livemode: false, actor: 'public' }

/**
 * Everything that every operation has in common, in the order in which a request is refused; then the kind of
 * row does its work.
 */
export async function handle(
  api: Api,
  route: AnyRoute,
  request: HttpRequestIn,
  response: HttpResponse,
): Promise<Reply> {
  const caller = await admit(api, route, request, response)
  checkAddress(request.url)
  const params = pathParameters(route, request.params as Record<string, string>)
  const query = queryParameters(route, request)
  const body = await bodyOf(api, route, request)
  const header = request.headers['idempotency-key'] as string | undefined
  const keyed = isRead(request) ? undefined : keyOf(route, { header, caller, params, body })
  const asked = new HttpRequest({
    dependencies: api.dependencies,
    envelope: envelopeOf(caller, response, { keyed, asOf: api.dependencies.executor.position }),
    id: keyed?.id ?? api.dependencies.newId(),
    path: response.locals['path'] as string,
    params,
    query,
    body,
    minPosition: minPosition(api, request),
    lastWritten: api.writes.last(caller),
    ifRevision: ifRevision(route, request),
  })
  const reply = await answer(api.dependencies, { route, asked, keyed }).catch((error: unknown) => {
    throw withKind(route, params, error)
  })
  if (asked.revision !== undefined && !reply.replayed) response.setHeader('ETag', `"${asked.revision}"`)
  if (route.scope !== 'public') await tellPosition(api, { asked, isRead: isRead(request), response })
  return reply
}

interface Answered {
  readonly asked: HttpRequest
  readonly isRead: boolean
  readonly response: HttpResponse
}

/** Every answer says what it shows at least, also one that has changed nothing or was given before. */
async function tellPosition(api: Api, { asked, isRead, response }: Answered): Promise<void> {
  const { store, reads, opaque } = api.dependencies
  const known = Math.max(asked.lastWritten, reads.known)
  const least = asked.position || (isRead ? known || (await reads.position()) : await store.head())
  if (!isRead) api.writes.note(asked.caller, least)
  response.setHeader('Ledger-Position', opaque.seal(least, positionContext))
}

const positionContext = 'position'

/** HEAD is GET without a body. */
function isRead({ method }: HttpRequestIn): boolean {
  return method === 'GET' || method === 'HEAD'
}

function envelopeOf(
  { merchant, livemode, actor }: Caller,
  { locals }: HttpResponse,
  { keyed, asOf }: { readonly keyed: Keyed | undefined; readonly asOf: number },
): Envelope {
  const request = locals['requestId'] as string
  const traceparent = locals['traceparent'] as string | undefined
  return {
    merchant,
    livemode,
    actor,
    correlation: request,
    request,
    asOf,
    ...(traceparent && { traceparent }),
    ...(keyed && { idempotencyKey: keyed.answerKey.key, fingerprint: keyed.fingerprint }),
  }
}

async function admit(
  api: Api,
  route: AnyRoute,
  request: HttpRequestIn,
  response: HttpResponse,
): Promise<Caller> {
  const address = api.addressOf(request)
  if (route.scope === 'public') {
    await api.rateLimit({ public: address ?? '' }, response)
    return nobody
  }
  const { key, caller } = await api.authentication.authenticate(request.headers.authorization, address)
  await api.rateLimit(caller, response)
  checkEnvironment(api, { route, caller, header: request.headers['ikw-environment'] as string | undefined })
  requireScope(key, route.scope)
  return caller
}

interface EnvironmentCheck {
  readonly route: AnyRoute
  readonly caller: Caller
  readonly header: string | undefined
}

function checkEnvironment(
  { requireEnvironmentHeader }: Api,
  { route, caller, header }: EnvironmentCheck,
): void {
  const own = caller.livemode ? 'live' : 'sandbox'
  if (header === undefined) {
    if (route.environment === 'required' && requireEnvironmentHeader)
      refuse('environment_header_must_be_given')
    return
  }
  const asked = header.toLowerCase()
  if (asked !== 'live' && asked !== 'sandbox') {
    const message = `Ikw-Environment is "${header}", but must be sandbox or live`
    refuseField('request_must_be_valid', 'header:Ikw-Environment', message)
  }
  if (asked !== own) {
    refuse('environment_must_be_the_credentials', {
      detail: `Ikw-Environment is "${header}", but the credential belongs to ${own}`,
    })
  }
}

/** PostgreSQL cannot hold the character, so nothing can be named or found by it. */
function checkAddress(url: string): void {
  if (url.includes('%00'))
    refuse('request_must_be_valid', { detail: 'The address must not contain the character U+0000' })
}

function queryParameters(route: AnyRoute, request: HttpRequestIn): Record<string, unknown> {
  const query = request.url.includes('?') ? request.query : {}
  const schema = route.kind === 'list' ? (listQueries.get(route) ?? rememberListQuery(route)) : route.query
  if (schema) return checkQuery(schema, query)
  if (Object.keys(query).length > 0) {
    const [name] = Object.keys(query)
    refuseField('request_must_be_valid', `query:/${name}`, `query parameter ${name} is not known here`)
  }
  return {}
}

const listQueries = new WeakMap<AnyRoute, ReturnType<typeof listQuery>>()

function rememberListQuery(route: AnyRoute): ReturnType<typeof listQuery> {
  const schema = listQuery(route)
  listQueries.set(route, schema)
  return schema
}

async function bodyOf(
  { bodyArrivalMs }: Api,
  route: AnyRoute,
  request: HttpRequestIn,
): Promise<object | undefined> {
  if (isRead(request)) return undefined
  const body = await readBody(request, bodyArrivalMs)
  if (!route.body) {
    const isEmpty =
      body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0)
    if (!isEmpty) refuseField('request_must_be_valid', '', 'Body is not taken here')
    return undefined
  }
  const given = body ?? {}
  checkBody(route.body, given)
  return given
}

/** The revision that a change is bound to; `*` is any, and a change needs one anyway. */
function ifRevision(route: AnyRoute, request: HttpRequestIn): number | undefined {
  const text = request.headers['if-match']
  if (text === undefined || isRead(request)) return undefined
  const [, revision] = /^"(\d{1,15})"$/.exec(text) ?? []
  if (takesIfMatch(route) && (text === '*' || revision !== undefined))
    return revision === undefined ? undefined : Number(revision)
  const why = takesIfMatch(route)
    ? 'If-Match must be an ETag that was answered'
    : 'If-Match is not taken here'
  return refuseField('request_must_be_valid', 'header:If-Match', why)
}

function minPosition({ dependencies }: Api, request: HttpRequestIn): number | undefined {
  const text = request.headers['min-position'] as string | undefined
  if (text === undefined) return undefined
  const message = 'Min-Position is no Ledger-Position that was answered'
  return (
    dependencies.opaque.open(text, positionContext) ??
    refuseField('request_must_be_valid', 'header:Min-Position', message)
  )
}
