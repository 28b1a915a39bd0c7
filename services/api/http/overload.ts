import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Refusal } from '../../../packages/contract/refusals.ts'
import type { Metrics } from '../../composition/observing/metrics.ts'
import { beginAnswer, endRefused } from './respond.ts'

/** However late the event loop is, this many requests may be in flight: enough to keep a database busy. */
const limitLeast = 100
const lookEveryMs = 100
const resolutionMs = 10
/** Requests wait unseen in the event loop for several times its delay. */
const lateMsMax = 20
const shrink = 0.8
/** After an overload the limit recovers fully within this many checks. */
const looksToRecover = 20
/** Refused clients must not all come back in the same second. */
const retryAfterSeconds = { least: 1, most: 3 }

export interface OverloadOptions {
  readonly baseUrl: string
  /** The most requests in flight. */
  readonly inFlightMax: number
  readonly metrics: Metrics
  /** Paths that are always answered: otherwise nobody could find out what is wrong. */
  readonly spared: ReadonlySet<string>
}

/**
 * Answers 503 before latency explodes. All that waits in this process waits for a request in flight, so their
 * number bounds every queue behind it. The limit shrinks while the event loop is late, and recovers on its
 * own. A refused request was not read: it left no trace and may be repeated.
 */
export class Overload {
  readonly #options: OverloadOptions
  readonly #delay = monitorEventLoopDelay({ resolution: resolutionMs })
  readonly #timer: NodeJS.Timeout
  /** Their clients have gone, but work on them continues. */
  readonly #abandoned = new Set<ServerResponse>()
  #inFlight = 0
  #limit: number
  #shed = 0

  constructor(options: OverloadOptions) {
    const { inFlightMax, metrics } = options
    this.#options = options
    this.#limit = inFlightMax
    this.#delay.enable()
    this.#timer = setInterval(() => this.#look(), lookEveryMs).unref()
    metrics.gauge('http_requests_in_flight', 'Requests that are worked on', () => this.#inFlight)
    metrics.gauge('http_requests_in_flight_limit', 'Requests beyond it are refused', () => this.#limit)
    metrics.counter('http_requests_shed_total', 'Requests refused for overload', () => this.#shed)
  }

  /** Admits what can be served. */
  guard(listener: RequestListener): RequestListener {
    const overload = this
    function left(this: ServerResponse): void {
      overload.#leave(this)
    }
    return (request, response) => {
      if (!this.#options.spared.has(request.url ?? '')) {
        if (this.#inFlight >= this.#limit) return this.#refuse(request, response)
        this.#inFlight++
        // Node 24 also closes queued responses itself.
        response.once('close', left)
      }
      listener(request, response)
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#delay.disable()
  }

  #leave(response: ServerResponse): void {
    if (response.writableEnded) this.#inFlight--
    else this.#abandoned.add(response)
  }

  #look(): void {
    for (const response of this.#abandoned) {
      if (!response.writableEnded) continue
      this.#abandoned.delete(response)
      this.#inFlight--
    }
    const { inFlightMax } = this.#options
    // Nothing is measured while nothing could run: then it counts as maximally late.
    const lateMs = this.#delay.count === 0 ? Infinity : this.#delay.mean / 1e6 - resolutionMs
    this.#delay.reset()
    const limit = lateMs > lateMsMax ? this.#limit * shrink : this.#limit + inFlightMax / looksToRecover
    this.#limit = Math.floor(Math.min(inFlightMax, Math.max(limit, limitLeast)))
  }

  #refuse(request: IncomingMessage, response: ServerResponse): void {
    this.#shed++
    const { least, most } = retryAfterSeconds
    const seconds = least + Math.floor(Math.random() * (most - least + 1))
    const refusal = new Refusal('service_must_not_be_overloaded', { retryAfterSeconds: seconds })
    const [instance = ''] = (request.url ?? '').split('?')
    endRefused(response, refusal, {
      instance,
      requestId: beginAnswer(request, response),
      baseUrl: this.#options.baseUrl,
    })
  }
}
