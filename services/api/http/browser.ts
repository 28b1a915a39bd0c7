import type { Request, Response } from 'express'
import { refusals, type Refusal } from '../../../packages/contract/refusals.ts'
import type { Redirection, Shown, Visit } from '../../../packages/contract/lists/pages.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { pathParameters } from '../kinds/prefixes.ts'
import { pageOf } from '../pages/layout.ts'
import { notice } from '../pages/notices.ts'
import type { Api } from './handle.ts'
import { firstOfEach } from './input/input.ts'
import { endPacked, type Reply } from './respond.ts'

/** Only our own files, and nothing written into the page: whatever a merchant's text contains is text. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

interface Answering {
  readonly route: AnyRoute
  readonly request: Request
  readonly response: Response
  readonly reply?: Reply
  readonly refusal?: Refusal
}

/** Answers a browser that asks for a page where the row has one; false where JSON is to be answered. */
export async function answeredAsPage(api: Api, answering: Answering): Promise<boolean> {
  const { route, request, response, reply, refusal } = answering
  if (reply && route.kind === 'redirect')
    return sendOn(api, answering, reply.body as Redirection | { readonly seen: unknown })
  if (response.headersSent || !isBrowser(request)) return false
  const visit = visitOf(api, answering)
  const shown = refusal
    ? await route.refusedPage?.(refusal, visit)
    : await route.page?.(reply!.body as never, visit)
  if (shown === undefined) return false
  if (refusal) tellWhen(response, refusal)
  endShown(response, refusal ? refusals[refusal.reason][0] : reply!.status, shown)
  return true
}

function isBrowser(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html'
}

/** The address bar holds what a form was sent to, once it was refused: opened again, it leads to the page. */
export function ledToPage(rows: readonly AnyRoute[], request: Request, response: Response): boolean {
  const isAskedFor = request.method === 'GET' || request.method === 'HEAD'
  if (!isAskedFor || !isBrowser(request) || !rows.some(({ form }) => form)) return false
  const { originalUrl } = request
  const at = originalUrl.indexOf('?')
  const query = at < 0 ? '' : originalUrl.slice(at)
  endShown(response, 303, { location: pageOf(response.locals['path'] as string) + query })
  return true
}

/** Tells a browser of a refusal that no row explains; false where JSON is to be answered. */
export function notedAsPage({ dependencies }: Api, { request, response, refusal }: Noted): boolean {
  const path = response.locals['path'] as string
  if (response.headersSent || path.startsWith('/api/') || !isBrowser(request)) return false
  tellWhen(response, refusal)
  const { query } = request
  // Two slashes would lead to another site.
  const own = path.replace(/^[/\\]+/, '/')
  const visit = { dependencies, path: own, params: {}, query, form: {}, language: languageFor(request) }
  endShown(response, refusals[refusal.reason][0], notice(refusal, visit))
  return true
}

function tellWhen(response: Response, { details }: Refusal): void {
  if (details.retryAfterSeconds !== undefined) response.setHeader('Retry-After', details.retryAfterSeconds)
}

interface Noted extends Pick<Answering, 'request' | 'response'> {
  readonly refusal: Refusal
}

function languageFor(request: Request): Visit['language'] {
  return (offered) => request.acceptsLanguages([...offered]) || undefined
}

function endShown(response: Response, status: number, shown: Shown): void {
  if (typeof shown !== 'string') return response.redirect(303, shown.location)
  response.setHeader('Content-Type', 'text/html; charset=utf-8')
  response.setHeader('Content-Security-Policy', pagePolicy)
  endPacked(response, status, shown)
}

function visitOf({ dependencies }: Api, { route, request, response, refusal }: Answering): Visit {
  const given = request.params as Record<string, string>
  const { path, form = {} } = response.locals as { path: string; form?: Record<string, unknown> }
  return {
    dependencies,
    path,
    // Ids that are none are why it was refused.
    params: refusal && refusals[refusal.reason][0] === 404 ? given : pathParameters(route, given),
    query: firstOfEach(request.query),
    form,
    language: languageFor(request),
  }
}

async function sendOn(
  api: Api,
  answering: Answering,
  body: Redirection | { readonly seen: unknown },
): Promise<true> {
  const { route, response } = answering
  if ('seen' in body) {
    endShown(response, 200, await route.page!(body.seen as never, visitOf(api, answering)))
    return true
  }
  const { location, cookie } = body
  if (cookie) {
    response.cookie(cookie.name, cookie.value, {
      path: response.locals['path'] as string,
      maxAge: cookie.seconds * 1_000,
      httpOnly: true,
      sameSite: 'lax',
      secure: api.dependencies.baseUrl.startsWith('https:'),
    })
  }
  response.statusCode = 302
  response.setHeader('Location', location)
  response.setHeader('Content-Length', 0)
  response.end()
  return true
}
