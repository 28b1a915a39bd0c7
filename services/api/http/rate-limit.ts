import type { ServerResponse } from 'node:http'
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Caller } from '../../../packages/contract/callers.ts'
import { Refusal } from '../../../packages/contract/refusals.ts'

/**
 * Domain model, section 4: requests per second and key, with twice as many in a burst. Inferred: `public`.
 */
const perSecond = { live: 100, sandbox: 25, public: 100 } as const
const burstSeconds = 10

/** A key, or an address where there is none. */
export type Limited = Pick<Caller, 'actor' | 'livemode'> | { readonly public: string }

export type RateLimit = (who: Limited, response: ServerResponse) => Promise<void>

/** Counts a request of a key or address, writes the headers, refuses what exceeds rate and burst. */
export function rateLimits(on: boolean): RateLimit {
  if (!on) return async () => undefined
  const limiters = { live: limiter('live'), sandbox: limiter('sandbox'), public: limiter('public') }
  return async (who, response) => {
    const kind = 'public' in who ? 'public' : who.livemode ? 'live' : 'sandbox'
    const points = perSecond[kind]
    try {
      const state = await limiters[kind].consume('public' in who ? who.public : who.actor)
      writeHeaders(response, points, state)
    } catch (state) {
      if (!(state instanceof RateLimiterRes)) throw state
      writeHeaders(response, points, state)
      throw new Refusal('rate_must_be_within_the_limit', {
        retryAfterSeconds: Math.ceil(state.msBeforeNext / 1000),
      })
    }
  }
}

function limiter(kind: keyof typeof perSecond): BurstyRateLimiter {
  const points = perSecond[kind]
  return new BurstyRateLimiter(
    new RateLimiterMemory({ keyPrefix: kind, points, duration: 1 }),
    new RateLimiterMemory({ keyPrefix: `${kind} burst`, points, duration: burstSeconds }),
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
