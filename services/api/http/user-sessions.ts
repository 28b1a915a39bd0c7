import { LRUCache } from 'lru-cache'
import type { Caller } from '../../../packages/contract/callers.ts'
import { Refusal, refuse } from '../../../packages/contract/refusals.ts'
import { scopesOfRole } from '../../../packages/contract/roles.ts'
import { merchant, type Merchant } from '../../../packages/domain/merchants/merchant.ts'
import {
  isOver,
  userSessions,
  type Session,
  type UserSessions,
} from '../../../packages/domain/sessions/user-sessions.ts'
import { streamName, type Decider, type Payloads } from '../../../packages/kernel/decider.ts'
import type { OpenedToken, Tokens } from '../../../packages/kernel/credential-ports.ts'
import { foldStored } from '../../../packages/kernel/history.ts'
import type { Owner } from '../../../packages/kernel/owner.ts'
import type { Clock, EventStore, Subscription } from '../../../packages/kernel/ports.ts'
import type { Authenticator, Presented } from './credentials.ts'

const kept = 20_000
/** How late this process may learn that a session has ended or a role has changed. */
const looksEveryMs = 10
/** A signed token, valid or not. */
const form = /^Bearer ey/i
const format = /^Bearer (ey[\w-]+\.[\w-]+\.[\w-]+)$/i

interface Parts {
  readonly store: EventStore
  readonly clock: Clock
  readonly tokens: Tokens
  readonly head: number
}

/**
 * Access tokens of users. The token's signature is checked once; whether its session goes on and what the
 * role allows, with each request. Both are cached, and dropped as soon as any process appends to them.
 */
export class SignedInUsers implements Authenticator {
  readonly #parts: Parts
  readonly #opened = new LRUCache<string, OpenedToken>({ max: kept })
  readonly #states = new LRUCache<string, UserSessions | Merchant>({ max: kept })
  #changes = 0
  readonly #subscription: Subscription

  constructor(parts: Parts) {
    this.#parts = parts
    this.#subscription = parts.store.subscribe({
      after: parts.head,
      categories: [userSessions.category, merchant.category],
      batchSize: 1_000,
      everyMs: looksEveryMs,
      handle: async (events) => {
        this.#changes += events.length
        for (const { stream } of events) this.#states.delete(stream)
      },
    })
  }

  readonly recognises = (authorization: string) => form.test(authorization)
  readonly knows = (authorization: string) => this.#opened.has(authorization)

  async authenticate({ authorization = '', environment }: Presented): Promise<Caller> {
    const opened = this.#opened.get(authorization) ?? (await this.#open(authorization))
    const livemode = environment?.toLowerCase() === 'live'
    try {
      return await this.#callerOf(opened, livemode)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // What is cached may be a moment older than what the caller was told by another process.
      const { subject, merchant: works } = opened.claims
      this.#states.delete(streamName(userSessions.category, subject))
      this.#states.delete(streamName(merchant.category, String(works)))
      return this.#callerOf(opened, livemode)
    }
  }

  async #callerOf({ claims, expiresAt }: OpenedToken, livemode: boolean): Promise<Caller> {
    const now = this.#parts.clock()
    const { active } = await this.#state(userSessions, claims.subject)
    const session = active.find((one) => one.id === claims.id)
    const isCurrent = session && !isOver(session, now) && now < expiresAt
    // A token of before the switch would act for another merchant than its client thinks.
    if (!isCurrent || (session.merchant ?? '') !== claims['merchant'])
      refuse('credential_must_not_be_expired')
    return this.#actingFor(claims.subject, session, livemode)
  }

  async #actingFor(
    user: string,
    { id: session, merchant: works }: Session,
    livemode: boolean,
  ): Promise<Caller> {
    const known = works === null ? undefined : await this.#state(merchant, works)
    const isKnown = known && known.status !== 'none'
    if (livemode && !(isKnown && known.isLive)) refuse('live_must_be_open_to_the_merchant')
    const role = (isKnown && known.members[user]) || null
    return {
      credential: 'user',
      merchant: works ?? noMerchant,
      livemode,
      actor: `user:${user}`,
      user,
      session,
      organization: isKnown ? known.organization : null,
      role,
      scopes: role === null ? [] : scopesOfRole(role),
      ...(isKnown && known.status === 'suspended' && { isSuspended: true }),
    }
  }

  async #open(authorization: string): Promise<OpenedToken> {
    const [, token] = format.exec(authorization) ?? []
    if (!token) refuse('credential_must_be_well_formed')
    const opened = await this.#parts.tokens.open('access', token)
    if (!opened) refuse('credential_must_not_be_expired')
    this.#opened.set(authorization, opened)
    return opened
  }

  async #state<S extends UserSessions | Merchant, C extends Payloads, E extends Payloads, O extends Owner>(
    decider: Decider<S, C, E, O>,
    id: string,
  ): Promise<S> {
    const stream = streamName(decider.category, id)
    const known = this.#states.get(stream) as S | undefined
    if (known) return known
    const changes = this.#changes
    const state = foldStored(decider, await this.#parts.store.readStream(stream, 0)) as S
    // A change that arrived meanwhile may be missing here: do not cache it.
    if (changes === this.#changes) this.#states.set(stream, state)
    return state
  }

  close(): Promise<void> {
    return this.#subscription.close()
  }
}

const noMerchant = '00000000-0000-0000-0000-000000000000'
