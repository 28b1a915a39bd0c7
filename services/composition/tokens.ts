import { LRUCache } from 'lru-cache'
import {
  newKeyPair,
  openToken,
  publicJwk,
  signingKey,
  signToken,
  verifyingKey,
  type Key,
} from '../../infra/secrets/signed-tokens.ts'
import {
  keySignsMs,
  tokenKeyContext,
  tokenKeys,
  tokenKeysId,
  type TokenKey,
} from '../../packages/domain/sign-in/token-keys.ts'
import type { Tokens } from '../../packages/kernel/ports/credentials.ts'
import type { Executor } from '../../packages/kernel/execution/execute.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { Clock, EventStore, NewId, Vault } from '../../packages/kernel/ports.ts'

interface Parts {
  readonly executor: Executor
  readonly store: EventStore
  readonly vault: Vault
  readonly newId: NewId
  readonly clock: Clock
  readonly baseUrl: string
}

/** Another process may have made a key, or retired one: what it signs for so long opens nothing. */
const looksEveryMs = 1_000
/** Whoever takes access tokens looks at their keys itself, at each request. The others are few. */
const lookups = { access: 'verifying', refresh: 'verifyingNow', link: 'verifyingNow' } as const
const keysKept = 20
const missesKept = 1_000

/**
 * Keys are in the log, the private ones sealed by the master key, so they travel with every copy of it. The
 * first process that has to sign makes one, and another when the newest has signed for 90 days.
 */
export function openTokens(parts: Parts): Tokens {
  const ring = new KeyRing(parts)
  const { clock, baseUrl: issuer } = parts
  return {
    async sign(kind, claims, expiresAt) {
      const { id, key } = await ring.newest()
      return signToken({ kind, claims, expiresAt }, { id, key, issuer, now: clock() })
    },
    open: (kind, token) =>
      openToken(kind, token, { issuer, now: clock(), keyOf: (id) => ring[lookups[kind]](id) }),
    async publicKeys() {
      await ring.newest()
      return (await ring.look()).map(({ id, publicKey }) => publicJwk(id, publicKey))
    },
  }
}

class KeyRing {
  readonly #parts: Parts
  #keys: readonly TokenKey[] = []
  #lookedAt = -Infinity
  #looking: Promise<readonly TokenKey[]> | undefined
  readonly #missed = new LRUCache<string, true>({ max: missesKept, ttl: looksEveryMs })
  readonly #signing = new LRUCache<string, Key>({ max: keysKept })
  readonly #verifying = new LRUCache<string, Key>({ max: keysKept })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The key that signs, made when there is none that is young enough. */
  async newest(): Promise<{ readonly id: string; readonly key: Key }> {
    const isYoung = ({ madeAt }: TokenKey) => this.#parts.clock().getTime() - Date.parse(madeAt) < keySignsMs
    const known = (await this.#lookIfPossible()).at(-1)
    const newest = known && isYoung(known) ? known : await this.#make()
    const { id, publicKey, sealed } = newest
    const key =
      this.#signing.get(id) ??
      (await signingKey({ publicKey, privateKey: this.#parts.vault.open(sealed, tokenKeyContext(id)) }))
    this.#signing.set(id, key)
    return { id, key }
  }

  /** `undefined` for a key that is not, or no longer, one of ours. */
  async verifying(id: string): Promise<Key | undefined> {
    const isKnown = this.#keys.some((one) => one.id === id)
    const keys = await (isKnown ? this.#lookIfPossible() : this.#lookFor(id))
    const found = keys.find((one) => one.id === id)
    if (!found) {
      this.#missed.set(id, true)
      return undefined
    }
    return this.#verifyingWith(found)
  }

  /** As of now: one that was retired a moment ago opens nothing, whoever has signed with it since. */
  async verifyingNow(id: string): Promise<Key | undefined> {
    const found = (await this.#read()).find((one) => one.id === id)
    return found && this.#verifyingWith(found)
  }

  async #verifyingWith({ id, publicKey }: TokenKey): Promise<Key> {
    const key = this.#verifying.get(id) ?? (await verifyingKey(publicKey))
    this.#verifying.set(id, key)
    return key
  }

  /** Another process may just have made it: after a look that is under way had begun. */
  async #lookFor(id: string): Promise<readonly TokenKey[]> {
    if (this.#missed.has(id)) return this.#keys
    if (this.#looking) await this.#lookIfPossible()
    return this.#keys.some((one) => one.id === id) ? this.#keys : this.#shared()
  }

  /** While the log cannot be read, what is known is good enough: without it nobody could be let in. */
  async #lookIfPossible(): Promise<readonly TokenKey[]> {
    return (this.#looking ?? this.look()).catch(() => this.#keys)
  }

  async look(): Promise<readonly TokenKey[]> {
    return performance.now() - this.#lookedAt < looksEveryMs ? this.#keys : this.#shared()
  }

  /** Whoever comes meanwhile waits for the same look: the key may be one that it finds. */
  #shared(): Promise<readonly TokenKey[]> {
    this.#looking ??= this.#read().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #read(): Promise<readonly TokenKey[]> {
    const { keys } = await readState(this.#parts.store, tokenKeys, tokenKeysId)
    this.#keys = keys
    this.#lookedAt = performance.now()
    return keys
  }

  async #make(): Promise<TokenKey> {
    const { executor, vault, newId } = this.#parts
    const id = newId()
    const { publicKey, privateKey } = await newKeyPair()
    const sealed = vault.seal(privateKey, tokenKeyContext(id))
    const data = { id, publicKey, sealed, youngerThanMs: keySignsMs }
    const envelope = { platform: true as const, actor: 'service', correlation: id }
    const { state } = await executor.send(tokenKeys, tokenKeysId, { type: 'MakeTokenKey', data }, envelope)
    this.#keys = state.keys
    return state.keys.at(-1)!
  }
}
