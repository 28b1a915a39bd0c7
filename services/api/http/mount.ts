import { IncomingMessage, ServerResponse } from 'node:http'
import express, { Router, type Express, type Request, type Response } from 'express'
import { Refusal } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { PasswordsBusyError } from '../../../packages/kernel/ports/credentials.ts'
import { ShareExhaustedError } from '../../../packages/kernel/ports/reads.ts'
import type { Metrics } from '../../composition/observing/metrics.ts'
import { handle, type Api } from './handle.ts'
import { answeredAsPage, ledToPage, notedAsPage } from './browser.ts'
import { pathsForLogs } from './logged-path.ts'
import { asRefusal } from './problem.ts'
import { beginAnswer, respond, respondRefusal } from './respond.ts'
import { traceparentOf } from './trace.ts'

const legacyPrefix = '/api/merchant/'
const merchantPrefix = '/api/v1/merchant/'

/** All rows of the table as one express application. */
export function mount(api: Api, routes: readonly AnyRoute[], metrics: Metrics): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.set('query parser', 'simple')
  app.enable('case sensitive routing')
  app.use(begin(api, pathsForLogs(routes)))
  for (const [prefix, places] of byPrefix(routes)) app.use(prefix, routerOf(api, { prefix, places, metrics }))
  return app
}

/** Answers what no row and no page has answered. */
export function mountEnd(app: Express, api: Api): void {
  const end = (request: Request, response: Response, error: unknown) => {
    const refusal = refusalAfter(api, response, error)
    if (!notedAsPage(api, { request, response, refusal })) fail(api, response, refusal)
  }
  const missing = new Refusal('resource_must_exist')
  app.use((request: Request, response: Response) => end(request, response, missing))
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    // A path that cannot be decoded names nothing.
    end(request, response, error instanceof URIError ? missing : error)
  })
}

/** A row at a path: its own or the legacy one. Both are the same operation, for idempotency keys too. */
interface MountedRow {
  readonly method: string
  readonly path: string
  readonly route: AnyRoute
}

function placesOf(route: AnyRoute): MountedRow[] {
  const [method, path] = route.operation.split(' ') as [string, string]
  // Spec, Versioning 2: legacy-compatible merchant paths exist beside the versioned ones.
  const legacy = path.startsWith(merchantPrefix)
    ? [{ method, path: path.replace(merchantPrefix, legacyPrefix), route }]
    : []
  return [{ method, path, route }, ...legacy]
}

/** One router per family, so that a request does not try all patterns of the service. */
function byPrefix(routes: readonly AnyRoute[]): Map<string, MountedRow[]> {
  const families = new Map<string, MountedRow[]>()
  for (const place of routes.flatMap(placesOf)) {
    const prefix = prefixOf(place.path)
    families.set(prefix, [...(families.get(prefix) ?? []), place])
  }
  return families
}

function prefixOf(path: string): string {
  const depth = path.startsWith(merchantPrefix) ? 4 : path.startsWith('/api/') ? 3 : 1
  const fixed = path.split('/').slice(1, depth + 1)
  const parameter = fixed.findIndex((segment) => segment.startsWith('{'))
  return `/${fixed.slice(0, parameter < 0 ? undefined : parameter).join('/')}`
}

interface Family {
  readonly prefix: string
  readonly places: readonly MountedRow[]
  readonly metrics: Metrics
}

function routerOf(api: Api, { prefix, places, metrics }: Family): Router {
  const router = Router({ caseSensitive: true })
  const methods = new Map<string, MountedRow[]>()
  for (const place of places) {
    const { method, path, route } = place
    const pattern = path.slice(prefix.length).replace(/\{(\w+)\}/g, ':$1') || '/'
    methods.set(pattern, [...(methods.get(pattern) ?? []), place])
    const name = method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'
    router[name](pattern, (request, response) => serve(api, { route, request, response, metrics }))
  }
  for (const [pattern, here] of [...methods].sort(fixedFirst)) {
    const allow = allowed(here.map(({ method }) => method))
    router.options(pattern, (_request, response) => answerOptions(response, here, allow))
    router.all(pattern, (request, response) => {
      const rows = here.map(({ route }) => route)
      if (ledToPage(rows, request, response)) return
      response.setHeader('Allow', allow)
      respondRefusal(response, new Refusal('method_must_be_allowed'))
    })
  }
  return router
}

/** `/mine` before `/:id`, which it would match too. */
function fixedFirst([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return Number(one.includes(':')) - Number(other.includes(':'))
}

function allowed(methods: readonly string[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

/** Pages of other sites may call rows that need no credential; API keys do not belong into pages. */
function answerOptions(response: Response, here: readonly MountedRow[], allow: string): void {
  response.setHeader('Allow', allow)
  const open = here.filter(({ route }) => route.scope === 'public').map(({ method }) => method)
  if (open.length > 0) {
    openToPages(response)
    response.setHeader('Access-Control-Allow-Methods', allowed(open))
    response.setHeader('Access-Control-Allow-Headers', 'Content-Type, Idempotency-Key, X-Request-Id')
    response.setHeader('Access-Control-Max-Age', 86_400)
  }
  response.status(204).end()
}

function openToPages(response: Response): void {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader(
    'Access-Control-Expose-Headers',
    'Ikw-Request-Id, Idempotent-Replayed, Location, Retry-After',
  )
}

interface RequestContext {
  readonly route: AnyRoute
  readonly request: Request
  readonly response: Response
  readonly metrics: Metrics
}

async function serve(api: Api, { route, request, response, metrics }: RequestContext): Promise<void> {
  const started = performance.now()
  api.dependencies.tracing?.name(route.operation)
  const path = response.locals['path'] as string
  if (route.scope === 'public') openToPages(response)
  if (path.startsWith(legacyPrefix)) {
    response.setHeader('Deprecation', 'true')
    response.setHeader('Link', `<${path.replace(legacyPrefix, merchantPrefix)}>; rel="successor-version"`)
  }
  try {
    const reply = await handle(api, route, request, response)
    if (!(await answeredAsPage(api, { route, request, response, reply }))) respond(route, response, reply)
  } catch (error) {
    const refusal = refusalAfter(api, response, error)
    const isShown = await answeredAsPage(api, { route, request, response, refusal }).catch(() => false)
    if (!isShown) fail(api, response, refusal)
  }
  metrics.observe(route.operation, response.statusCode, performance.now() - started)
}

/** Somebody asks for more than a fair share: thousands of lines a second would say nothing else. */
const greedy = [ShareExhaustedError, PasswordsBusyError]

/** What the client is told of it. Whatever is no refusal has failed, and is logged; greed is no failure. */
function refusalAfter({ dependencies }: Api, response: Response, error: unknown): Refusal {
  const refusal = asRefusal(error)
  if (refusal !== error && !greedy.some((kind) => error instanceof kind))
    dependencies.log.error({ error, request: response.locals['requestId'] as string }, 'request failed')
  return refusal
}

function fail(api: Api, response: Response, error: unknown): void {
  const refusal = refusalAfter(api, response, error)
  // A response that never ends would count as in flight for ever.
  if (response.headersSent) response.destroy().end()
  else respondRefusal(response, refusal)
}

interface Begun {
  readonly request: Request
  readonly response: Response
  readonly started: number
}

function begin({ dependencies }: Api, logged: (path: string) => string) {
  const { log } = dependencies
  const isTold = log.isLevelEnabled?.('info') ?? true
  const tell = ({ request, response, started }: Begun) => {
    // Clients that give up are told of too: what they waited for is slow.
    const isWhole = response.writableFinished
    const line = {
      request: response.locals['requestId'] as string,
      method: request.method,
      // Without the query, which may search for a phone number.
      path: logged(response.locals['path'] as string),
      status: isWhole || response.headersSent ? response.statusCode : null,
      durationMs: Math.round(performance.now() - started),
    }
    log.info(line, isWhole ? 'answered' : 'ended before the whole answer')
  }
  return (request: Request, response: Response, next: () => void) => {
    const id = beginAnswer(request, response)
    const started = performance.now()
    response.locals['requestId'] = id
    response.locals['path'] = request.path
    response.locals['baseUrl'] = dependencies.baseUrl
    response.locals['traceparent'] = traceparentOf(request)
    if (isTold) response.once('close', () => tell({ request, response, started }))
    if (lacksHost(request)) respondRefusal(response, new Refusal('request_must_be_http'))
    else next()
  }
}

/** RFC 9112: since HTTP/1.1, a request names its host. */
function lacksHost({ headers, httpVersion }: Request): boolean {
  return headers.host === undefined && httpVersion !== '1.0'
}

/**
 * Express replaces the prototype of every request and response, which makes V8 forget their shape: half of
 * its cost. Objects created with the application's own prototypes are left alone. They must be derived
 * classes: for any other function V8 makes a new shape per object.
 */
export function messageClasses(app: Express) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as Request
  app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as Response
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse }
}
