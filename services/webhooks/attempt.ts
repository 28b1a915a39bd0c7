import { setTimeout as pause } from 'node:timers/promises'
import type { Call, Egress } from '../../infra/http/egress.ts'
import type { CallAnswer } from '../../infra/http/exchange.ts'
import type { Attempted, Delivery } from '../../infra/postgres/webhooks/deliveries.ts'
import { publicId } from '../../packages/contract/identity.ts'
import type { Clock, Log } from '../../packages/kernel/ports.ts'
import { UnreadableEndpointError } from '../composition/webhook-endpoints.ts'
import type { Directory, Endpoint } from './directory.ts'
import { gets } from './intake.ts'
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
 * Makes one attempt at a delivery and returns its result and consequences; `undefined` when the service stops
 * before it was sent.
 */
export async function attempt(delivery: Delivery, tools: AttemptTools): Promise<Attempted | undefined> {
  const { directory, egress, clock } = tools
  let call: Call
  let endpoint: Endpoint | undefined
  try {
    endpoint = directory.known(delivery, delivery.endpoint) ?? (await find(delivery, tools))
    if (!endpoint) return unsent(delivery, 'missing', clock())
    if (endpoint.state.status === 'disabled') return unsent(delivery, 'disabled', clock())
    if (delivery.replay === null && !gets(endpoint, delivery)) return unsent(delivery, 'unwanted', clock())
    call = callTo(endpoint, delivery, clock())
  } catch (error) {
    return tools.stopping.aborted ? undefined : postponed(delivery, error, tools)
  }
  let answer: Answer
  try {
    answer = await egress.post(call)
  } catch (error) {
    answer = { status: null, body: reasonOf(error) }
  }
  const at = clock()
  const attempts = delivery.attempts + 1
  const end = { at, attempts, isReplay: delivery.replay !== null, chance: tools.chance }
  const { status, dueAt, consequence } = outcome(endpoint, answer.status, end)
  if (status === 'failed') logGivenUp(delivery, { attempts, httpStatus: answer.status }, tools.log)
  const body = answer.body.replaceAll('\0', '')
  // Written out: spreading other objects into these costs as much as signing.
  return {
    id: delivery.id,
    status,
    attempts,
    dueAt,
    at,
    httpStatus: answer.status,
    answer: body,
    consequence,
  }
}

function logGivenUp({ endpoint, event, merchant, livemode }: Delivery, how: object, log: Log): void {
  log.info(
    { endpoint: publicId('we', endpoint), event, merchant, livemode, ...how },
    'a delivery is given up',
  )
}

type Answer = CallAnswer | { readonly status: null; readonly body: string }
type Outcome = Pick<Attempted, 'status' | 'dueAt' | 'consequence'>

interface Ended {
  readonly at: Date
  readonly attempts: number
  readonly isReplay: boolean
  readonly chance: () => number
}

const succeeded: Outcome = { status: 'succeeded', dueAt: null, consequence: null }
const recovered: Outcome = { ...succeeded, consequence: { kind: 'recovered' } }
const failed: Outcome = { status: 'failed', dueAt: null, consequence: null }
const exhausted: Outcome = { ...failed, consequence: { kind: 'exhausted' } }

/** What follows from an attempt answered with this status; null when there was no answer. */
function outcome(
  { state }: Endpoint,
  status: number | null,
  { at, attempts, isReplay, chance }: Ended,
): Outcome {
  if (status !== null && status >= 200 && status < 300) {
    return state.status === 'failing' ? recovered : succeeded
  }
  // Inferred: 410 Gone says that nobody will ever listen there again.
  if (status === 410) return { ...failed, consequence: { kind: 'gone', url: state.url } }
  // Inferred: a replay is tried once, because whoever asked for it can ask again.
  if (isReplay) return failed
  const dueAt = retryDueAt(at, attempts, chance())
  if (dueAt) return { status: 'pending', dueAt, consequence: null }
  return state.status === 'active' ? exhausted : failed
}

const findTries = { most: 3, everyMs: 1_000 }

/** Rejects when the endpoint cannot be looked up now; another delivery then takes its place. */
async function find(
  delivery: Delivery,
  { directory, log, stopping }: AttemptTools,
): Promise<Endpoint | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await directory.find(delivery, delivery.endpoint)
    } catch (error) {
      const isHopeless = error instanceof UnreadableEndpointError || tries === findTries.most
      if (isHopeless || stopping.aborted) throw error
      log.warn({ error, endpoint: delivery.endpoint }, 'reading a webhook endpoint failed and is repeated')
      await pause(findTries.everyMs, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

const postponeMs = 60_000

/** Not knowing where to send, or how to sign, is no failure of the endpoint: no attempt is counted. */
function postponed(
  { id, endpoint, attempts }: Delivery,
  error: unknown,
  { clock, log }: AttemptTools,
): Attempted {
  // The directory has already reported an unreadable endpoint once.
  if (!(error instanceof UnreadableEndpointError))
    log.error({ error, endpoint }, 'a delivery cannot be made, and is made later')
  const at = clock()
  const dueAt = new Date(at.getTime() + postponeMs)
  const answer = 'the endpoint could not be read'
  return { id, status: 'pending', attempts, dueAt, at, httpStatus: null, answer, consequence: null }
}

function callTo({ state, keys }: Endpoint, delivery: Delivery, at: Date): Call {
  const { event, payload, replay, traceparent } = delivery
  const valid = keys()
    .filter(({ until }) => until > at.getTime())
    .map(({ key }) => key)
  const signed = signatureHeaders(valid, { id: event, at, body: payload })
  // Written out, as above.
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'ikw-payments-webhooks/1',
    'webhook-id': signed['webhook-id'],
    'webhook-timestamp': signed['webhook-timestamp'],
    'webhook-signature': signed['webhook-signature'],
    'ikw-signature': signed['ikw-signature'],
    'webhook-replay': replay === null ? undefined : 'true',
    traceparent: traceparent ?? undefined,
  }
  return { url: state.url, headers, body: payload }
}

/** Network codes (`ECONNREFUSED`) tell a merchant more than a message does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return `${code}: ${error.message}`
}

const obstacles = {
  missing: { status: 'failed', answer: 'there is no such endpoint' },
  disabled: { status: 'skipped', answer: 'the endpoint is disabled' },
  unwanted: { status: 'skipped', answer: 'the endpoint is not enabled for this event' },
} as const

function unsent({ id, attempts }: Delivery, obstacle: keyof typeof obstacles, at: Date): Attempted {
  const { status, answer } = obstacles[obstacle]
  return { id, status, attempts, dueAt: null, at, httpStatus: null, answer, consequence: null }
}
