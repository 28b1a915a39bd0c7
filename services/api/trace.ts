import type { RequestListener } from 'node:http'
import type { Tracing } from '../../packages/kernel/trace-ports.ts'

const traceparent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * Each request is a span: it goes on with the caller's trace, and whatever takes up the header goes on with
 * the span. Its row names it. Where nobody listens the listener stays as it is.
 */
export function traced(listener: RequestListener, tracing: Tracing | undefined): RequestListener {
  if (!tracing) return listener
  return (request, response) => {
    const { method = '', headers } = request
    const given = headers['traceparent']
    const parent = typeof given === 'string' && traceparent.test(given) ? given : undefined
    const attributes = { 'http.request.method': method }
    const span = tracing.begin({ name: method, kind: 'server', parent, attributes })
    headers['traceparent'] = span.traceparent
    response.once('close', () => {
      const { statusCode } = response
      span.set({ 'http.response.status_code': statusCode })
      span.end(statusCode >= 500 ? { name: String(statusCode) } : undefined)
    })
    tracing.within(span, () => listener(request, response))
  }
}
