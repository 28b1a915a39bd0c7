import { LRUCache } from 'lru-cache'
import {
  secretContext,
  webhookEndpoint,
  type WebhookEndpoint,
} from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import type { EventStore, Log, Subscription, Vault } from '../../packages/kernel/ports.ts'
import type { DocumentRow, ReadStore } from '../../packages/kernel/read-ports.ts'
import { signingKey, type SigningKey } from './signature.ts'

export type RegisteredEndpoint = Exclude<WebhookEndpoint, { status: 'none' }>

export interface Endpoint {
  readonly id: string
  /** Position of its registration in the log. */
  readonly created: number
  readonly state: RegisteredEndpoint
  /** Newest first; the newest has no end. */
  readonly keys: readonly { readonly key: SigningKey; readonly until: number }[]
}

export interface Owner {
  readonly merchant: string
  readonly livemode: boolean
}

export interface DirectoryOptions {
  readonly store: EventStore
  readonly reads: ReadStore
  readonly vault: Vault
  readonly log: Log
  /** Merchants and environments whose endpoints are kept in memory. */
  readonly ownersMax: number
}

interface Kept {
  readonly loading: Promise<readonly Endpoint[]>
  /** Missing until they are loaded. */
  endpoints?: readonly Endpoint[]
}

const catchUpTimeoutMs = 1_000
/** More than a merchant may register. */
const endpointsMax = 100

/** The endpoints of each merchant and environment, kept in memory until one of them changes. */
export class Directory {
  readonly #options: DirectoryOptions
  readonly #owners: LRUCache<string, Kept>
  #subscription: Subscription | undefined
  /** Everything kept in memory is at least as new as this position of the log. */
  #position = 0

  constructor(options: DirectoryOptions) {
    this.#options = options
    this.#owners = new LRUCache({ max: options.ownersMax })
  }

  /** Begins to follow changes; nothing may be asked before. */
  async open(): Promise<void> {
    const { store, reads, log } = this.#options
    // Whatever is loaded from now on is at least as new as this; what is newer is followed.
    this.#position = await reads.position()
    this.#subscription = store.subscribe({
      categories: [webhookEndpoint.category],
      after: this.#position,
      batchSize: 1_000,
      handle: async (batch, through) => {
        if (batch.length > 0) await this.#readModelsHaveReached(through)
        for (const { metadata } of batch) this.#owners.delete(keyOf(metadata))
        this.#position = through
      },
      onError: (error) => log.warn({ error }, 'following webhook endpoints failed and is repeated'),
    })
  }

  /**
   * The endpoints as they were at a position of the log, or later. Rejects when the read models do not get
   * there in time.
   */
  async at(owner: Owner, position: number): Promise<readonly Endpoint[]> {
    if (this.#position < position) {
      await this.#readModelsHaveReached(position)
      // What is in memory may be older than the position until the subscription has got there too.
      if (this.#position < position) return this.#load(owner)
    }
    return this.#kept(owner)
  }

  /** One endpoint as it is now, as far as this process knows. */
  async find({ merchant, livemode }: Owner, id: string): Promise<Endpoint | undefined> {
    return (await this.#kept({ merchant, livemode })).find((endpoint) => endpoint.id === id)
  }

  /** The same without waiting: `undefined` also where it only has to be loaded. */
  known(owner: Owner, id: string): Endpoint | undefined {
    return this.#owners.get(keyOf(owner))?.endpoints?.find((endpoint) => endpoint.id === id)
  }

  async close(): Promise<void> {
    await this.#subscription?.close()
  }

  /** A load that a change overtakes has been deleted from memory before it ends, so nothing old stays. */
  #kept(owner: Owner): Promise<readonly Endpoint[]> {
    const key = keyOf(owner)
    const known = this.#owners.get(key)
    if (known) return known.loading
    const kept: Kept = { loading: this.#load(owner) }
    this.#owners.set(key, kept)
    kept.loading.then(
      (endpoints) => (kept.endpoints = endpoints),
      () => this.#owners.peek(key) === kept && this.#owners.delete(key),
    )
    return kept.loading
  }

  async #load({ merchant, livemode }: Owner): Promise<readonly Endpoint[]> {
    const { rows } = await this.#options.reads.page<DocumentRow & { readonly state: WebhookEndpoint }>({
      from: 'webhook_endpoints',
      where: [
        { column: 'merchant', operator: '=', value: merchant },
        { column: 'livemode', operator: '=', value: livemode },
      ],
      order: 'created',
      ascending: true,
      limit: endpointsMax,
    })
    return rows.flatMap(({ id, created, state }) =>
      state.status === 'none' ? [] : [this.#endpoint(id, created, state)],
    )
  }

  #endpoint(id: string, created: number, state: RegisteredEndpoint): Endpoint {
    const older = state.previous.map(({ sealed, until }) => ({ sealed, until: Date.parse(until) }))
    const secrets = [{ sealed: state.secret.sealed, until: Infinity }, ...older]
    const keys = secrets.map(({ sealed, until }) => {
      return { key: signingKey(this.#options.vault.open(sealed, secretContext(id))), until }
    })
    return { id, created, state, keys }
  }

  async #readModelsHaveReached(position: number): Promise<void> {
    if (await this.#options.reads.reached(position, catchUpTimeoutMs)) return
    throw new Error(`the read models have not reached position ${position} in ${catchUpTimeoutMs} ms`)
  }
}

function keyOf({ merchant, livemode }: Owner): string {
  return `${merchant}.${livemode}`
}
