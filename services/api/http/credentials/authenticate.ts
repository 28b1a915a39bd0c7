import { hash as digest } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isListed } from '../../../../infra/http/addresses.ts'
import { refuse } from '../../../../packages/contract/refusals.ts'
import {
  isGranted,
  type Caller,
  type PortalPermission,
} from '../../../../packages/contract/access/callers.ts'
import type { Scope } from '../../../../packages/contract/access/scopes.ts'
import { apiKey, apiKeyId, noteNextUseAt, type ApiKey } from '../../../../packages/domain/api-keys/api-key.ts'
import { merchant, type Merchant } from '../../../../packages/domain/merchants/merchant.ts'
import type { Executor } from '../../../../packages/kernel/execution/execute.ts'
import type { Clock, EventStore } from '../../../../packages/kernel/ports.ts'
import type { Authenticator, Presented } from './credentials.ts'
import { FollowedStates } from './followed-states.ts'
import type { KeyUses } from './key-uses.ts'

const keysKept = 20_000
/** Valid or not. */
const form = /^Bearer ik_/i
/** The scheme's name is case-insensitive; the key is not. */
const format = /^Bearer (ik_(?:app_)?(?:test|live)_[A-Za-z0-9_-]{32,64})$/i

interface Credential {
  readonly caller: Caller
  readonly key: Extract<ApiKey, { status: 'active' | 'revoked' }>
}

/** What a header was found to stand for. */
interface KnownKey {
  readonly credential: Credential
  readonly merchant: Merchant
  /** As of this number of changes. */
  readonly changes: number
  /** When the next use is noted, in milliseconds of Unix time. */
  noteUseAt: number
}

interface Parts {
  readonly store: EventStore
  readonly executor: Pick<Executor, 'stored' | 'onSent'>
  readonly clock: Clock
  readonly head: number
  readonly uses: Pick<KeyUses, 'note' | 'close'>
}

/** API keys and app tokens. A key's stream is found by the key's own hash, without a read model. */
export class ApiKeys implements Authenticator {
  readonly #clock: Clock
  readonly #uses: Parts['uses']
  readonly #states: FollowedStates
  /** By header, which a client repeats with each request. */
  readonly #known = new LRUCache<string, KnownKey>({ max: keysKept })

  constructor({ store, executor, clock, head, uses }: Parts) {
    this.#clock = clock
    this.#uses = uses
    const categories = [apiKey.category, merchant.category]
    this.#states = new FollowedStates({ store, executor, head, categories })
  }

  readonly recognises = (authorization: string) => form.test(authorization)
  readonly knows = (authorization: string) => this.#known.has(authorization)

  async authenticate({ authorization, address }: Presented): Promise<Caller> {
    const late = this.#states.check()
    if (late) await late
    const known = this.#known.get(authorization ?? '')
    const current = known?.changes === this.#states.changes ? known : await this.#find(authorization)
    const { credential, merchant } = current
    const { key } = credential
    const now = this.#clock().getTime()
    const expired = key.expiresAt !== null && Date.parse(key.expiresAt) <= now
    if (key.status === 'revoked' || expired) refuse('credential_must_not_be_expired')
    if (key.addresses.length > 0 && !isListed(address, key.addresses))
      refuse('address_must_be_on_the_allow_list')
    if (now >= current.noteUseAt) current.noteUseAt = this.#uses.note(key, now)
    const { caller } = credential
    return merchant.status === 'suspended' ? { ...caller, isSuspended: true } : caller
  }

  async #find(authorization = ''): Promise<KnownKey> {
    const [, secret] = format.exec(authorization) ?? []
    if (authorization === '') refuse('credential_must_be_given')
    if (!secret) refuse('credential_must_be_well_formed')
    const changes = this.#states.changes
    const hash = digest('sha256', secret)
    const id = apiKeyId(hash)
    const key = await this.#states.of(apiKey, id)
    if (key.status === 'none' || key.hash !== hash) refuse('credential_must_be_valid')
    const { livemode } = key
    const kind = secret.startsWith('ik_app_') ? ('app_token' as const) : ('api_key' as const)
    const acting = { merchant: key.merchant, livemode, actor: `key:${id}` }
    const credential = { caller: { credential: kind, ...acting, scopes: key.scopes }, key }
    const noteUseAt = key.usedAt === null ? 0 : noteNextUseAt(key.usedAt)
    const known = { credential, merchant: await this.#states.of(merchant, key.merchant), changes, noteUseAt }
    this.#known.set(authorization, known)
    return known
  }

  async close(): Promise<void> {
    await this.#uses.close()
    await this.#states.close()
  }
}

export function requireScope(caller: Caller, scope: Scope): void {
  if (!isGranted(caller, scope)) {
    refuse('credential_must_have_the_scope', { detail: `Credential lacks the scope ${scope}` })
  }
}

export function requirePermission(caller: Caller, permission: PortalPermission | undefined): void {
  if (caller.credential !== 'customer_portal' || permission === undefined) return
  if (!caller.permissions.includes(permission))
    refuse('portal_must_allow_it', { detail: `The portal was opened without ${permission}` })
}
