import { LRUCache } from 'lru-cache'
import type { Caller } from '../../../../packages/contract/access/callers.ts'
import { Refusal, refuse } from '../../../../packages/contract/refusals.ts'
import { scopesOfNonMembers, scopesOfRole } from '../../../../packages/contract/access/roles.ts'
import { merchant } from '../../../../packages/domain/merchants/merchant.ts'
import { expiryOf, userSessions, type Session } from '../../../../packages/domain/sessions/user-sessions.ts'
import { tokenKeys, tokenKeysId } from '../../../../packages/domain/sign-in/token-keys.ts'
import type { OpenedToken, Tokens } from '../../../../packages/kernel/ports/credentials.ts'
import type { Executor } from '../../../../packages/kernel/execution/execute.ts'
import type { Clock, EventStore } from '../../../../packages/kernel/ports.ts'
import type { Authenticator, Presented } from './credentials.ts'
import { FollowedStates } from './followed-states.ts'

const kept = 20_000
/** A signed token, valid or not. */
const form = /^Bearer ey/i
const format = /^Bearer (ey[\w-]+\.[\w-]+\.[\w-]+)$/i

interface Parts {
  readonly store: EventStore
  readonly executor: Pick<Executor, 'stored' | 'onSent'>
  readonly clock: Clock
  readonly tokens: Tokens
  readonly head: number
  /** The step of the onboarding without which live stays shut. */
  readonly missingStep: (asking: { user: string; merchant: string }) => Promise<string | undefined>
}

/** What a header was found to stand for, in each environment. */
interface KnownCallers {
  readonly opened: OpenedToken
  /** As of this number of changes. */
  changes: number
  readonly in: { live?: KnownCaller; sandbox?: KnownCaller }
}

interface KnownCaller {
  readonly caller: Caller
  /** When token or session is over, in milliseconds of Unix time. */
  readonly until: number
}

/**
 * Access tokens of users. The token's signature is checked once. Whether its key is still good, its session
 * goes on and what the role allows is found out again whenever any key, session or merchant has changed.
 */
export class SignedInUsers implements Authenticator {
  readonly #parts: Parts
  /** By header, which a client repeats with each request. */
  readonly #known = new LRUCache<string, KnownCallers>({ max: kept })
  readonly #states: FollowedStates

  constructor(parts: Parts) {
    this.#parts = parts
    const { store, head, executor } = parts
    const categories = [userSessions.category, merchant.category, tokenKeys.category]
    this.#states = new FollowedStates({ store, head, executor, categories })
  }

  readonly recognises = (authorization: string) => form.test(authorization)
  readonly knows = (authorization: string) => this.#known.has(authorization)

  async authenticate({ authorization = '', environment }: Presented): Promise<Caller> {
    const late = this.#states.check()
    if (late) await late
    const known = this.#known.get(authorization) ?? (await this.#open(authorization))
    const { changes } = this.#states
    if (known.changes !== changes) Object.assign(known, { changes, in: {} })
    const name = environment?.toLowerCase() === 'live' ? 'live' : 'sandbox'
    const found = known.in[name]
    if (found && this.#parts.clock().getTime() < found.until) return found.caller
    const places = known.in
    return (places[name] = await this.#find(known.opened, name === 'live')).caller
  }

  async #find(opened: OpenedToken, livemode: boolean): Promise<KnownCaller> {
    try {
      return await this.#callerOf(opened, livemode)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // What is cached may be a moment older than what the caller was told by another process.
      const { subject, merchant: works } = opened.claims
      this.#states.forget(userSessions, subject)
      this.#states.forget(merchant, String(works))
      this.#states.forget(tokenKeys, tokenKeysId)
      return this.#callerOf(opened, livemode).catch((refused: unknown) => this.#explained(refused, opened))
    }
  }

  /** Names what is missing, which takes more reads than requests that are let in have time for. */
  async #explained(refused: unknown, { claims }: OpenedToken): Promise<never> {
    const isLive = refused instanceof Refusal && refused.reason === 'live_must_be_open_to_the_merchant'
    const works = String(claims['merchant'])
    if (!isLive || works === '') throw refused
    const step = await this.#parts.missingStep({ user: claims.subject, merchant: works })
    if (step === undefined) throw refused
    return refuse(refused.reason, {
      detail: `Live is not open to this merchant yet: the step ${step} is missing`,
    })
  }

  async #callerOf({ key, claims, expiresAt }: OpenedToken, livemode: boolean): Promise<KnownCaller> {
    const { keys } = await this.#states.of(tokenKeys, tokenKeysId)
    if (!keys.some(({ id }) => id === key)) refuse('credential_must_not_be_expired')
    const { active } = await this.#states.of(userSessions, claims.subject)
    const session = active.find((one) => one.id === claims.id)
    const until = session ? Math.min(expiryOf(session).getTime(), expiresAt.getTime()) : -Infinity
    // A token of before the switch would act for another merchant than its client thinks.
    if (!session || this.#parts.clock().getTime() >= until || (session.merchant ?? '') !== claims['merchant'])
      refuse('credential_must_not_be_expired')
    return { caller: await this.#actingFor(claims.subject, session, livemode), until }
  }

  async #actingFor(
    user: string,
    { id: session, merchant: works, endings }: Session,
    livemode: boolean,
  ): Promise<Caller> {
    const known = works === null ? undefined : await this.#states.of(merchant, works)
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
      endings,
      organization: isKnown ? known.organization : null,
      role,
      scopes: role === null ? scopesOfNonMembers : scopesOfRole(role),
      ...(role !== null && known?.status === 'suspended' && { isSuspended: true }),
    }
  }

  async #open(authorization: string): Promise<KnownCallers> {
    const [, token] = format.exec(authorization) ?? []
    if (!token) refuse('credential_must_be_well_formed')
    const opened = await this.#parts.tokens.open('access', token)
    if (!opened) refuse('credential_must_not_be_expired')
    const known = { opened, changes: -1, in: {} }
    this.#known.set(authorization, known)
    return known
  }

  close(): Promise<void> {
    return this.#states.close()
  }
}

const noMerchant = '00000000-0000-0000-0000-000000000000'
