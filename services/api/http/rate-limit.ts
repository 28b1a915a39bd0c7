import type { ServerResponse } from 'node:http'
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { Refusal } from '../../../packages/contract/refusals.ts'
import type { Caller } from '../../../packages/contract/routes.ts'

/** Domain model, section 4: requests per second and key; twice as many may come at once. */
const perSecond = { live: 100, sandbox: 25 } as const
const burstSeconds = 10

export type RateLimit = (caller: Caller, response: ServerResponse) => Promise<void>

/** Counts a request of a key; writes the headers; refuses what is above the rate and its burst. */
export function rateLimits(on: boolean): RateLimit {
  if (!on) return async () => undefined
  const limiters = { live: limiter('live'), sandbox: limiter('sandbox') }
  return async ({ actor, livemode }, response) => {
    const environment = livemode ? 'live' : 'sandbox'
    const points = perSecond[environment]
    try {
      writeHeaders(response, points, await limiters[environment].consume(actor))
    } catch (state) {
      if (!(state instanceof RateLimiterRes)) throw state
      writeHeaders(response, points, state)
      throw new Refusal('rate_must_be_within_the_limit', {
        retryAfterSeconds: Math.ceil(state.msBeforeNext / 1000),
      })
    }
  }
}

function limiter(environment: keyof typeof perSecond): BurstyRateLimiter {
  const points = perSecond[environment]
  return new BurstyRateLimiter(
    new RateLimiterMemory({ keyPrefix: environment, points, duration: 1 }),
    new RateLimiterMemory({ keyPrefix: `${environment} burst`, points, duration: burstSeconds }),
  )
}

function writeHeaders(response: ServerResponse, points: number, state: RateLimiterRes | null): void {
  const remaining = Math.max(0, state?.remainingPoints ?? 0)
  const resetSeconds = Math.max(1, Math.ceil((state?.msBeforeNext ?? 1000) / 1000))
  response.setHeader('RateLimit-Policy', `"key";q=${points};w=1`)
  response.setHeader('RateLimit', `"key";r=${remaining};t=${resetSeconds}`)
  response.setHeader('X-RateLimit-Limit', points)
  response.setHeader('X-RateLimit-Remaining', remaining)
  response.setHeader('X-RateLimit-Reset', resetSeconds)
}
