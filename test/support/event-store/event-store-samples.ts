import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import type {
  EventMetadata,
  EventStore,
  NewEvent,
  StoredEvent,
  Subscription,
  SubscriptionOptions,
} from '../../../packages/kernel/ports.ts'

type FollowerOptions = Omit<SubscriptionOptions, 'handle'> & Partial<SubscriptionOptions>

/** A category that no other run of the suite uses: the server may be shared. */
export function newCategory(): string {
  return `suite${randomUUID().replaceAll('-', '')}`
}

export function newStream(category: string): string {
  return `${category}-${v7()}`
}

export function newEvent(data: object = { amount: 5_000 }): NewEvent {
  return { id: v7(), type: 'PayoutRequested', data, metadata: newMetadata() }
}

export function newEvents(count: number): readonly NewEvent[] {
  return Array.from({ length: count }, (_, number) => newEvent({ number }))
}

export function newMetadata(): EventMetadata {
  return {
    merchant: randomUUID(),
    livemode: false,
    actor: 'key:suite',
    at: '2026-01-02T03:04:05.678Z',
    version: 1,
    correlation: randomUUID(),
  }
}

export function ids(events: readonly { readonly id: string }[]): readonly string[] {
  return events.map(({ id }) => id)
}

/** Events that are out of order in the log or within their stream. */
export function misplaced(events: readonly StoredEvent[]): readonly StoredEvent[] {
  const next = new Map<string, number>()
  let last = 0
  return events.filter(({ stream, revision, position }) => {
    const inOrder = position > last && revision === (next.get(stream) ?? 0)
    next.set(stream, revision + 1)
    last = position
    return !inOrder
  })
}

/** A subscription to one category from now on, with everything it has received. */
export class Follower {
  readonly events: StoredEvent[] = []
  readonly batches: (readonly StoredEvent[])[] = []
  /** The position up to which everything was handed over. */
  through = 0
  readonly #subscription: Subscription
  readonly #wakers = new Set<() => void>()

  constructor(store: EventStore, options: FollowerOptions) {
    const { handle } = options
    const collect: SubscriptionOptions['handle'] = async (batch, through) => {
      await handle?.(batch, through)
      this.#collect(batch, through)
    }
    this.#subscription = store.subscribe({ ...options, handle: collect })
  }

  async until(condition: (follower: this) => boolean): Promise<void> {
    while (!condition(this)) await new Promise<void>((wake) => this.#wakers.add(wake))
  }

  async received(count: number): Promise<void> {
    await this.until(({ events }) => events.length >= count)
  }

  async close(): Promise<void> {
    await this.#subscription.close()
  }

  #collect(batch: readonly StoredEvent[], through: number): void {
    this.through = through
    this.events.push(...batch)
    if (batch.length > 0) this.batches.push(batch)
    for (const wake of this.#wakers) wake()
    this.#wakers.clear()
  }
}
