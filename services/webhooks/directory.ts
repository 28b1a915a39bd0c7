import { LRUCache } from 'lru-cache'
import { publicId } from '../../packages/contract/identity.ts'
import { secretContext, webhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { ownerText, ownerOf, type MerchantOwner } from '../../packages/kernel/owner.ts'
import type { Clock, EventStore, Log, Subscription, Vault } from '../../packages/kernel/ports.ts'
import type { ReadStore } from '../../packages/kernel/ports/reads.ts'
import { endpointChanges } from '../composition/endpoint-changes.ts'
import {
  enabledEndpoints,
  isReadable,
  readEndpoint,
  UnreadableEndpointError,
  type ListedEndpoint,
  type ReadableEndpoint,
} from '../composition/webhook-endpoints.ts'
import { signingKey, type SigningKey } from './signature.ts'

/** An endpoint to which something can be sent. */
export interface Endpoint extends ReadableEndpoint {
  /** Opened on demand: a secret that cannot be opened affects its endpoint alone. */
  readonly keys: () => readonly TimedKey[]
}

/** Newest first; the newest has no end. */
export interface TimedKey {
  readonly key: SigningKey
  readonly until: number
}

export interface DirectoryOptions {
  readonly store: EventStore
  readonly reads: ReadStore
  readonly vault: Vault
  readonly clock: Clock
  readonly log: Log
  /** Owners whose endpoints are cached. */
  readonly ownersMax: number
}

type Loaded = Endpoint | ListedEndpoint

interface Kept {
  readonly loading: Promise<readonly Loaded[]>
  /** Missing until they are loaded. */
  endpoints?: readonly Loaded[]
  /** Milliseconds since 1970; missing where it is valid until something changes. */
  until?: number
}

/** Unreadable endpoints are looked at again: a newer version, or a person, mends them. */
const unreadableMs = 60_000

/** The enabled endpoints of each merchant and environment, cached until one of them changes. */
export class Directory {
  readonly #options: DirectoryOptions
  readonly #owners: LRUCache<string, Kept>
  #subscription: Subscription | undefined
  /** Everything cached is at least as new as this position of the log. */
  #position = 0
  /** Unreadable endpoints, with the key of their owner. */
  readonly #unreadable = new Map<string, string>()

  constructor(options: DirectoryOptions) {
    this.#options = options
    this.#owners = new LRUCache({ max: options.ownersMax })
  }

  /** Begins to follow changes; nothing may be asked before. */
  async open(): Promise<void> {
    const { store, log } = this.#options
    // Whatever is loaded from now on is at least as new as this; anything newer is followed.
    this.#position = await store.head()
    this.#subscription = store.subscribe({
      categories: [webhookEndpoint.category],
      after: this.#position,
      batchSize: 1_000,
      handle: async (batch, through) => {
        for (const { metadata } of batch) this.#owners.delete(ownerText(metadata))
        this.#advance(through)
      },
      onError: (error) => log.warn({ error }, 'following webhook endpoints failed and is repeated'),
    })
  }

  /**
   * To be called before endpoints are asked for as they were at a position of the log, or later: what has
   * changed up to there, and the subscription has not told yet, is read, for all owners at once.
   */
  async reach(position: number): Promise<void> {
    if (this.#position >= position) return
    const changes = await endpointChanges(this.#options.store).after(this.#position)
    for (const { owner } of changes) this.#owners.delete(owner)
    this.#advance(position)
  }

  /** The endpoints of an owner that are enabled, or may be: those that cannot be read. */
  enabled(owner: MerchantOwner): Promise<readonly ListedEndpoint[]> {
    return this.#kept(owner)
  }

  /**
   * One endpoint as it is now, enabled or not; `undefined` when this owner has none with that id. Rejects
   * with UnreadableEndpointError.
   */
  async find(owner: MerchantOwner, id: string): Promise<Endpoint | undefined> {
    const enabled = (await this.#kept(owner)).find((endpoint) => endpoint.id === id)
    if (enabled && canBeSentTo(enabled)) return enabled
    if (enabled) throw new UnreadableEndpointError(id, enabled.fault)
    const other = await readEndpoint(this.#options, owner, id)
    return other && this.#endpoint(other)
  }

  /** An enabled endpoint without waiting: `undefined` also where it has to be loaded or cannot be read. */
  known(owner: MerchantOwner, id: string): Endpoint | undefined {
    const endpoints = this.#owners.get(ownerText(owner))?.endpoints
    const endpoint = endpoints?.find((one) => one.id === id)
    return endpoint && canBeSentTo(endpoint) ? endpoint : undefined
  }

  /** How many endpoints cannot be read: their deliveries are stored and wait. */
  get unreadable(): number {
    return this.#unreadable.size
  }

  async close(): Promise<void> {
    await this.#subscription?.close()
  }

  #advance(through: number): void {
    this.#position = Math.max(this.#position, through)
  }

  /** A load that a change overtakes has been deleted from memory before it ends, so nothing old stays. */
  #kept(owner: MerchantOwner): Promise<readonly Loaded[]> {
    const key = ownerText(owner)
    const known = this.#owners.get(key)
    if (known && !(known.until! <= this.#options.clock().getTime())) return known.loading
    const kept: Kept = { loading: this.#load(owner) }
    this.#owners.set(key, kept)
    kept.loading.then(
      (endpoints) => this.#keep(kept, endpoints),
      () => this.#owners.peek(key) === kept && this.#owners.delete(key),
    )
    return kept.loading
  }

  #keep(kept: Kept, endpoints: readonly Loaded[]): void {
    kept.endpoints = endpoints
    if (!endpoints.every(canBeSentTo)) kept.until = this.#options.clock().getTime() + unreadableMs
  }

  async #load(owner: MerchantOwner): Promise<readonly Loaded[]> {
    const listed = await enabledEndpoints(this.#options, ownerOf(owner))
    this.#noteUnreadable(ownerText(owner), listed)
    return listed.map((one) => (isReadable(one) ? this.#endpoint(one) : one))
  }

  /** Logged once, when it starts: every delivery of the endpoint would repeat it. */
  #noteUnreadable(owner: string, listed: readonly ListedEndpoint[]): void {
    const faults = listed.filter(({ fault }) => fault !== undefined)
    const ids = new Set(faults.map(({ id }) => id))
    for (const [id, of] of this.#unreadable) if (of === owner && !ids.has(id)) this.#unreadable.delete(id)
    for (const { id, fault } of faults) {
      if (this.#unreadable.has(id)) continue
      this.#unreadable.set(id, owner)
      this.#logUnreadable(id, fault)
    }
  }

  #logUnreadable(id: string, error: unknown): void {
    const endpoint = publicId('we', id)
    this.#options.log.error({ endpoint, error }, 'a webhook endpoint cannot be read: its deliveries wait')
  }

  #endpoint(listed: ReadableEndpoint): Endpoint {
    let keys: readonly TimedKey[] | undefined
    let isLogged = false
    const open = () => {
      try {
        return this.#keysOf(listed)
      } catch (error) {
        // Every delivery of the endpoint fails in the same way.
        if (!isLogged) this.#logUnreadable(listed.id, error)
        isLogged = true
        throw new UnreadableEndpointError(listed.id, error)
      }
    }
    return { ...listed, keys: () => (keys ??= open()) }
  }

  #keysOf({ id, state: { secret, previous } }: ReadableEndpoint): readonly TimedKey[] {
    const older = previous.map(({ sealed, until }) => ({ sealed, until: Date.parse(until) }))
    return [{ sealed: secret.sealed, until: Infinity }, ...older].map(({ sealed, until }) => {
      return { key: signingKey(this.#options.vault.open(sealed, secretContext(id))), until }
    })
  }
}

function canBeSentTo(endpoint: Loaded): endpoint is Endpoint {
  return 'keys' in endpoint
}
