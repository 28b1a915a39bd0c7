import { setTimeout as pause } from 'node:timers/promises'
import type { Egress } from '../../infra/http/egress.ts'
import type { CallAnswer } from '../../infra/http/exchange.ts'
import type { Attempted, Consequence, Delivery } from '../../infra/postgres/deliveries.ts'
import type { Clock, Log } from '../../packages/kernel/ports.ts'
import type { Directory, Endpoint } from './directory.ts'
import { retryDueAt } from './schedule.ts'
import { signatureHeaders } from './signature.ts'

export interface AttemptTools {
  readonly directory: Directory
  readonly egress: Egress
  readonly clock: Clock
  readonly log: Log
  /** From 0 to below 1. */
  readonly chance: () => number
  readonly stopping: AbortSignal
}

/**
 * Sends one delivery once and says what became of it and what follows; `undefined` when the service stops
 * before it was sent.
 */
export async function attempt(delivery: Delivery, tools: AttemptTools): Promise<Attempted | undefined> {
  const endpoint = await find(delivery, tools)
  if (!endpoint) return undefined
  if (endpoint.state.status === 'disabled') return skipped(delivery, tools.clock())
  const answer = await call(endpoint, delivery, tools)
  const at = tools.clock()
  const end = {
    id: delivery.id,
    attempts: delivery.attempts + 1,
    at,
    httpStatus: answer.status,
    answer: answer.body,
  }

  if (answer.status !== null && answer.status >= 200 && answer.status < 300) {
    const consequence: Consequence | null = endpoint.state.status === 'failing' ? { kind: 'recovered' } : null
    return { ...end, status: 'succeeded', dueAt: null, consequence }
  }
  /** Inferred: 410 Gone says that nobody will ever listen there again. */
  if (answer.status === 410) {
    return { ...end, status: 'failed', dueAt: null, consequence: { kind: 'gone', url: endpoint.state.url } }
  }
  // Inferred: a replay is tried once, for it was asked for by somebody who can ask again.
  if (delivery.replay !== null) return { ...end, status: 'failed', dueAt: null, consequence: null }
  const dueAt = retryDueAt(at, end.attempts, tools.chance())
  if (dueAt) return { ...end, status: 'pending', dueAt, consequence: null }
  const consequence: Consequence | null = endpoint.state.status === 'active' ? { kind: 'exhausted' } : null
  return { ...end, status: 'failed', dueAt: null, consequence }
}

const findRetryMs = 1_000

/**
 * Not knowing where to send is no failure of the endpoint, so it is asked for until the answer comes or the
 * service stops.
 */
async function find(
  delivery: Delivery,
  { directory, log, stopping }: AttemptTools,
): Promise<Endpoint | undefined> {
  for (;;) {
    try {
      const endpoint = await directory.find(delivery, delivery.endpoint)
      if (endpoint) return endpoint
      throw new Error('the endpoint is not in the read model')
    } catch (error) {
      if (stopping.aborted) return undefined
      log.warn({ error, endpoint: delivery.endpoint }, 'reading a webhook endpoint failed and is repeated')
      await pause(findRetryMs, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

type Answer = CallAnswer | { readonly status: null; readonly body: string }

async function call(
  endpoint: Endpoint,
  { event, payload, replay, traceparent }: Delivery,
  { egress, clock }: AttemptTools,
): Promise<Answer> {
  const at = clock()
  const keys = endpoint.keys.filter(({ until }) => until > at.getTime()).map(({ key }) => key)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'ikw-payments-webhooks/1',
    ...signatureHeaders(keys, { id: event, at, body: payload }),
    ...(replay !== null && { 'webhook-replay': 'true' }),
    ...(traceparent !== null && { traceparent }),
  }
  try {
    const { status, body } = await egress.post({ url: endpoint.state.url, headers, body: payload })
    return { status, body: body.replaceAll('\0', '') }
  } catch (error) {
    return { status: null, body: reasonOf(error) }
  }
}

/** The network's own codes (`ECONNREFUSED`) tell a merchant more than a message does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return `${code}: ${error.message}`
}

function skipped({ id, attempts }: Delivery, at: Date): Attempted {
  const answer = 'the endpoint is disabled'
  return { id, status: 'skipped', attempts, dueAt: null, at, httpStatus: null, answer, consequence: null }
}
