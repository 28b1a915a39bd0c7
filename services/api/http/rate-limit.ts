import type { ServerResponse } from 'node:http'
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Caller } from '../../../packages/contract/access/callers.ts'
import { Refusal } from '../../../packages/contract/refusals.ts'
import { ownerText, type Owner } from '../../../packages/kernel/owner.ts'
import { networksOf, type Network } from './networks.ts'

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
  const kinds = Object.entries(perSecond)
  const limiters = perNetwork((times) =>
    Object.fromEntries(kinds.map(([kind, points]) => [kind, limiter(kind, points * times)])),
  )
  const prompted = new RateLimiterMemory({ keyPrefix: 'prompts', ...prompts })
  const guessed = perNetwork(
    (times) => new RateLimiterMemory({ keyPrefix: 'guesses', ...guesses, points: guesses.points * times }),
  )
  return {
    async count(who, response) {
      const [kind, names] = namesOf(who)
      const points = perSecond[kind]
      try {
        const states: RateLimiterRes[] = []
        const weight = 'weight' in who ? who.weight : 1
        for (const { name, times } of names) states.push(await limiters[times][kind]!.consume(name, weight))
        writeHeaders(response, points, states[0]!)
      } catch (state) {
        if (!(state instanceof RateLimiterRes)) throw state
        writeHeaders(response, points, state)
        refuseUntil(state)
      }
    },
    async checkGuesses(address) {
      for (const { name, times } of networksOf(address)) {
        const state = await guessed[times].get(name)
        if (state && state.remainingPoints <= 0) refuseUntil(state)
      }
    },
    async countGuess(address) {
      for (const { name, times } of networksOf(address)) await guessed[times].penalty(name)
    },
    async countPrompt(msisdn) {
      const state = await prompted.penalty(msisdn.slice(-subscriberDigits))
      if (state.consumedPoints > prompts.points) refuseUntil(state)
    },
  }
}

/** Numbers are written with and without their country. */
const subscriberDigits = 8

function namesOf(who: Limited): readonly [kind: keyof typeof requestsPerSecond, names: readonly Network[]] {
  const one = (name: string) => [{ name, times: 1 } as const]
  if ('costly' in who) return ['costly', networksOf(who.costly)]
  if ('address' in who) return ['address', networksOf(who.address)]
  if ('account' in who) return ['account', one(ownerText(who.account))]
  return [who.livemode ? 'live' : 'sandbox', one(who.actor)]
}

/** One for each width of networks, which names are not shared by. */
function perNetwork<Limiter>(make: (times: Network['times']) => Limiter) {
  return { 1: make(1), 2: make(2), 4: make(4) } satisfies Record<Network['times'], Limiter>
}

function limiter(kind: string, points: number): BurstyRateLimiter {
  return new BurstyRateLimiter(
    new RateLimiterMemory({ keyPrefix: kind, points, duration: 1 }),
    new RateLimiterMemory({ keyPrefix: `${kind} burst`, points, duration: burstSeconds }),
  )
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
