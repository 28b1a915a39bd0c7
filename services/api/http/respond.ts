import type { IncomingMessage, ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import { gzip } from 'node:zlib'
import fastJson from 'fast-json-stringify'
import type { Response } from 'express'
import { answerOf } from '../../../packages/contract/lists/query.ts'
import type { Problem } from '../../../packages/contract/refusals/problem.ts'
import { refusals, type Refusal } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { problem, type ProblemContext } from './problem.ts'

export interface Reply {
  readonly status: number
  readonly body: unknown
  readonly replayed: boolean
}

const securityHeaders = Object.entries({
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'Referrer-Policy': 'no-referrer',
})
const givenId = /^[\x21-\x7e]{1,128}$/

/** Sets what every answer has; returns the request's id, the client's or a new one. */
export function beginAnswer({ headers }: IncomingMessage, response: ServerResponse): string {
  const given = headers['x-request-id'] ?? headers['ikw-request-id']
  const isGood = typeof given === 'string' && givenId.test(given)
  const id = isGood ? given : `req_${randomUUID().replaceAll('-', '')}`
  response.setHeader('Ikw-Request-Id', id)
  for (const [name, value] of securityHeaders) response.setHeader(name, value)
  return id
}

// Compiling is slow, so each serialiser is compiled on first use.
const serializers = new WeakMap<AnyRoute, (body: unknown) => string>()

function serializer(route: AnyRoute): (body: unknown) => string {
  let serialize = serializers.get(route)
  if (!serialize) {
    const schema = answerOf(route)
    // Both describe JSON Schema; the libraries only name its keywords differently.
    serializers.set(route, (serialize = fastJson(schema as unknown as Parameters<typeof fastJson>[0])))
  }
  return serialize
}

export function respond(route: AnyRoute, response: Response, { status, body, replayed }: Reply): void {
  if (replayed) response.setHeader('Idempotent-Replayed', 'true')
  const { id } = body as { id?: string }
  if ((status === 201 || route.kind === 'create') && id !== undefined) {
    const { location = `${(response.locals['path'] as string).replace(/\/$/, '')}/{id}` } = route
    response.setHeader('Location', location.replace('{id}', id))
  }
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  endPacked(response, status, serializer(route)(body))
}

export function respondRefusal(response: Response, refusal: Refusal): void {
  const { path, requestId, baseUrl } = response.locals as Readonly<Record<string, string>>
  endRefused(response, refusal, { instance: path!, requestId: requestId!, baseUrl: baseUrl! })
}

/** For a response that express has not seen. */
export function endRefused(response: ServerResponse, refusal: Refusal, place: ProblemContext): void {
  const body = problem(refusal, place)
  const { retryAfterSeconds } = refusal.details
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds)
  const challenge = challengeOf(body, response)
  if (challenge !== undefined) response.setHeader('WWW-Authenticate', challenge)
  // The rest of a body that is too large or too slow is not read: the connection is closed.
  if (body.status === 413 || body.status === 408) response.setHeader('Connection', 'close')
  response.setHeader('Content-Type', 'application/problem+json; charset=utf-8')
  end(response, body.status, JSON.stringify(body))
}

/** RFC 6750, section 3: why a credential was rejected. */
function challengeOf({ status, code, message }: Problem, { req }: ServerResponse): string | undefined {
  const bearer = 'Bearer realm="ikw-payments"'
  if (status === 401 && req.headers.authorization === undefined) return bearer
  if (status === 401) return `${bearer}, error="invalid_token", error_description="${message}"`
  return code === scopeCode ? `${bearer}, error="insufficient_scope"` : undefined
}

const [, scopeCode] = refusals.credential_must_have_the_scope

/** Shorter answers fit into one packet anyway. */
const packedFrom = 1_024

export function endPacked(response: Response, status: number, text: string): void {
  response.setHeader('Vary', 'Accept-Encoding')
  if (text.length < packedFrom || response.req.acceptsEncodings('gzip') !== 'gzip')
    return end(response, status, text)
  gzip(text, (error, bytes) => {
    // A response that never ends would count as in flight for ever.
    if (error) return void response.destroy(error).end()
    response.statusCode = status
    response.setHeader('Content-Encoding', 'gzip')
    response.setHeader('Content-Length', bytes.length)
    response.end(bytes)
  })
}

function end(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}
