import type { Attempted, Delivery } from '../../infra/postgres/webhooks/deliveries.ts'
import type { Tracing } from '../../packages/kernel/ports/traces.ts'
import { attempt, type AttemptTools } from './attempt.ts'

/**
 * An attempt as a span of its event's trace, which the webhook carries on. A replay was requested by somebody
 * else, perhaps months later: it only links to that trace.
 */
export function tracedAttempt(
  delivery: Delivery,
  tools: AttemptTools,
  tracing: Tracing,
): Promise<Attempted | undefined> {
  const { traceparent, replay, endpoint, event, attempts } = delivery
  const cause = traceparent ?? undefined
  const isReplay = replay !== null
  const options = {
    name: 'deliver',
    kind: 'client',
    parent: isReplay ? undefined : cause,
    links: isReplay && cause !== undefined ? [cause] : [],
    attributes: { 'ikw.endpoint': endpoint, 'ikw.event': event, 'ikw.attempt': attempts + 1 },
  } as const
  return tracing.span(options, async (span) => {
    const attempted = await attempt({ ...delivery, traceparent: span.traceparent }, tools)
    if (!attempted) return undefined
    const { status, httpStatus } = attempted
    span.set({ 'ikw.status': status, 'http.response.status_code': httpStatus ?? 0 })
    return attempted
  })
}
