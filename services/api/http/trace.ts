import type { IncomingMessage, RequestListener } from 'node:http'
import type { Tracing } from '../../../packages/kernel/ports/traces.ts'

/**
 * Each request is a span: it continues the caller's trace, and what follows continues the span. Its row names
 * it. Without a collector the listener stays as it is.
 */
export function traced(listener: RequestListener, tracing: Tracing | undefined): RequestListener {
  if (!tracing) return listener
  return (request, response) => {
    const { method = '' } = request
    const attributes = { 'http.request.method': method }
    const span = tracing.begin({ name: method, kind: 'server', parent: traceparentOf(request), attributes })
    request.headers['traceparent'] = span.traceparent
    response.once('close', () => {
      const { statusCode } = response
      span.set({ 'http.response.status_code': statusCode })
      span.end(statusCode >= 500 ? { name: String(statusCode) } : undefined)
    })
    tracing.within(span, () => listener(request, response))
  }
}

const traceparent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The trace that a request names, if any. */
export function traceparentOf({ headers }: IncomingMessage): string | undefined {
  const given = headers['traceparent']
  return typeof given === 'string' && traceparent.test(given) ? given : undefined
}
