import type { ServerResponse } from 'node:http'
import ipaddr from 'ipaddr.js'
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Caller } from '../../../packages/contract/callers.ts'
import { Refusal } from '../../../packages/contract/refusals.ts'
import { ownerText, type Owner } from '../../../packages/kernel/owner.ts'

/**
 * Domain model, section 4: requests per second and key, with twice as many in a burst. Inferred: those of
 * strangers, by address, and by the account that they act for.
 */
const perSecond = { live: 100, sandbox: 25, address: 100, account: 100 } as const
const burstSeconds = 10
/** Inferred: credentials that open nothing, per address. A person who mistypes one never gets there. */
const guesses = { points: 100, duration: 10 }

/** A key, or the address of a caller without one, or the account that such callers act for. */
export type Limited =
  Pick<Caller, 'actor' | 'livemode'> | { readonly address: string | undefined } | { readonly account: Owner }

export interface RateLimits {
  /** Counts a request of a key or address, writes the headers, refuses what exceeds rate and burst. */
  count(who: Limited, response: ServerResponse): Promise<void>
  /** Refuses an address that has presented too many credentials that open nothing. */
  checkGuesses(address: string | undefined): Promise<void>
  countGuess(address: string | undefined): Promise<void>
}

const nothing = async () => undefined

export function rateLimits(on: boolean): RateLimits {
  if (!on) return { count: nothing, checkGuesses: nothing, countGuess: nothing }
  const limiters = {
    live: limiter('live'),
    sandbox: limiter('sandbox'),
    address: limiter('address'),
    account: limiter('account'),
  }
  const guessed = new RateLimiterMemory({ keyPrefix: 'guesses', ...guesses })
  return {
    async count(who, response) {
      const [kind, name] = nameOf(who)
      const points = perSecond[kind]
      try {
        const state = await limiters[kind].consume(name)
        writeHeaders(response, points, state)
      } catch (state) {
        if (!(state instanceof RateLimiterRes)) throw state
        writeHeaders(response, points, state)
        refuseUntil(state)
      }
    },
    async checkGuesses(address) {
      const state = await guessed.get(networkOf(address))
      if (state && state.remainingPoints <= 0) refuseUntil(state)
    },
    async countGuess(address) {
      await guessed.penalty(networkOf(address))
    },
  }
}

function nameOf(who: Limited): readonly [kind: keyof typeof perSecond, name: string] {
  if ('address' in who) return ['address', networkOf(who.address)]
  if ('account' in who) return ['account', ownerText(who.account)]
  return [who.livemode ? 'live' : 'sandbox', who.actor]
}

function limiter(kind: keyof typeof perSecond): BurstyRateLimiter {
  const points = perSecond[kind]
  return new BurstyRateLimiter(
    new RateLimiterMemory({ keyPrefix: kind, points, duration: 1 }),
    new RateLimiterMemory({ keyPrefix: `${kind} burst`, points, duration: burstSeconds }),
  )
}

const ipv6NetworkGroups = 4

/** One subscriber has 2^64 addresses of IPv6: they count as one. */
export function networkOf(address = ''): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6
    ? parsed.parts.slice(0, ipv6NetworkGroups).join(':')
    : parsed.toString()
}

function refuseUntil({ msBeforeNext }: RateLimiterRes): never {
  throw new Refusal('rate_must_be_within_the_limit', {
    retryAfterSeconds: Math.ceil(msBeforeNext / 1000),
  })
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
