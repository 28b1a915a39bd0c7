import type { ServerResponse } from 'node:http'
import ipaddr from 'ipaddr.js'
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Caller } from '../../../packages/contract/callers.ts'
import { Refusal } from '../../../packages/contract/refusals.ts'
import { ownerText, type Owner } from '../../../packages/kernel/owner.ts'

/**
 * Domain model, section 4: requests per second and key, with twice as many in a burst. Inferred: those of
 * strangers, by address, and by the account that they act for. One address takes a part of the account's, so
 * that nobody keeps all payers of a merchant out. `costly` is what strangers make us write, ask or draw.
 */
export const requestsPerSecond = { live: 100, sandbox: 25, address: 100, account: 300, costly: 20 }
const burstSeconds = 10
/** Inferred: requests to pay that one telephone gets, whoever sends them. */
const prompts = { points: 10, duration: 600 }
/** Inferred: credentials that open nothing, per address. A person who mistypes one never gets there. */
const guesses = { points: 100, duration: 10 }

/** A key, or the address of a caller without one, or the account that such callers act for. */
export type Limited =
  | Pick<Caller, 'actor' | 'livemode'>
  | { readonly address: string | undefined }
  | { readonly account: Owner }
  /** As many as its weight. */
  | { readonly costly: string | undefined; readonly weight?: number }

export interface RateLimits {
  /** Counts a request of a key or address, writes the headers, refuses what exceeds rate and burst. */
  count(who: Limited, response: ServerResponse): Promise<void>
  /** Refuses an address that has presented too many credentials that open nothing. */
  checkGuesses(address: string | undefined): Promise<void>
  countGuess(address: string | undefined): Promise<void>
  /** Refuses to ask a telephone too often, which many strangers at many addresses could do. */
  countPrompt(msisdn: string): Promise<void>
}

const nothing = async () => undefined

export function rateLimits(on: boolean, perSecond = requestsPerSecond): RateLimits {
  if (!on) return { count: nothing, checkGuesses: nothing, countGuess: nothing, countPrompt: nothing }
  const limiters = Object.fromEntries(
    Object.entries(perSecond).map(([kind, points]) => [kind, limiter(kind, points)]),
  ) as Readonly<Record<keyof typeof requestsPerSecond, BurstyRateLimiter>>
  const prompted = new RateLimiterMemory({ keyPrefix: 'prompts', ...prompts })
  const guessed = new RateLimiterMemory({ keyPrefix: 'guesses', ...guesses })
  return {
    async count(who, response) {
      const [kind, name] = nameOf(who)
      const points = perSecond[kind]
      try {
        const state = await limiters[kind].consume(name, 'weight' in who ? who.weight : 1)
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
    async countPrompt(msisdn) {
      const state = await prompted.penalty(msisdn.slice(-subscriberDigits))
      if (state.consumedPoints > prompts.points) refuseUntil(state)
    },
  }
}

/** Numbers are written with and without their country. */
const subscriberDigits = 8

function nameOf(who: Limited): readonly [kind: keyof typeof requestsPerSecond, name: string] {
  if ('costly' in who) return ['costly', networkOf(who.costly)]
  if ('address' in who) return ['address', networkOf(who.address)]
  if ('account' in who) return ['account', ownerText(who.account)]
  return [who.livemode ? 'live' : 'sandbox', who.actor]
}

function limiter(kind: string, points: number): BurstyRateLimiter {
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
