import { LRUCache } from 'lru-cache'
import {
  streamName,
  type AnyDecider,
  type Decider,
  type Payloads,
} from '../../../../packages/kernel/decider.ts'
import type { Executor } from '../../../../packages/kernel/execution/execute.ts'
import type { Owner } from '../../../../packages/kernel/owner.ts'
import {
  noStream,
  type EventStore,
  type Snapshot,
  type Subscription,
} from '../../../../packages/kernel/ports.ts'

const statesKept = 20_000
/** How late this process learns of a change as a rule. */
const looksEveryMs = 10
/** How late at most: whoever revokes a key is promised that it is good nowhere after a second. */
const knownForMs = 800
/** Before that, so that no request waits for it while others keep coming. */
const checkedAfterMs = 300
/** What has arrived by then in the usual way need not be read again. */
const arrivesWithinMs = 150

interface Parts {
  readonly store: EventStore
  readonly executor: Pick<Executor, 'stored' | 'onSent'>
  /** Position of the log at the start. */
  readonly head: number
  /** Of the streams whose states are asked for. */
  readonly categories: readonly string[]
}

interface Followed {
  /** As it was read last. */
  known?: Snapshot
  /** As it is. Concurrent callers share one read; none is left when something may have changed. */
  current: Promise<Snapshot> | undefined
}

/**
 * States of streams that requests need again and again: cached until somebody appends to the stream, and then
 * read on from there. What this process has done is known at once, and what others have, soon.
 */
export class FollowedStates {
  readonly #store: EventStore
  readonly #executor: Parts['executor']
  readonly #states = new LRUCache<string, Followed>({ max: statesKept })
  readonly #subscription: Subscription
  readonly #stopListening: () => void
  #changes = 0
  #through: number
  #checkedAt = -Infinity
  #checking: Promise<void> | undefined
  #arrived: (() => void) | undefined

  constructor({ store, head, categories, executor }: Parts) {
    this.#store = store
    this.#executor = executor
    this.#through = head
    this.#stopListening = executor.onSent(categories, (stream) => this.#changed(stream))
    this.#subscription = store.subscribe({
      after: head,
      categories,
      batchSize: 1_000,
      everyMs: looksEveryMs,
      handle: async (events, through) => {
        for (const { stream } of events) this.#changed(stream)
        this.#through = through
        this.#arrived?.()
      },
    })
  }

  /** Number of changes so far: what was made of states is still good where it has not moved. */
  get changes(): number {
    return this.#changes
  }

  /** Something to wait for where changes could have been missed, because the log has not been heard of. */
  check(): Promise<void> | undefined {
    const knownMs = performance.now() - this.#checkedAt
    if (knownMs < checkedAfterMs) return undefined
    this.#checking ??= this.#catchUp().finally(() => (this.#checking = undefined))
    if (knownMs >= knownForMs) return this.#checking
    // Whoever comes when it is too old hears that the store is away.
    this.#checking.catch(() => undefined)
    return undefined
  }

  async of<S, C extends Payloads, E extends Payloads, O extends Owner>(
    decider: Decider<S, C, E, O>,
    id: string,
  ): Promise<S> {
    const stream = streamName(decider.category, id)
    const followed = this.#states.get(stream)
    const { state } = await (followed?.current ?? this.#read(decider, id, followed))
    return state as S
  }

  forget<S, C extends Payloads, E extends Payloads, O extends Owner>(
    { category }: Decider<S, C, E, O>,
    id: string,
  ): void {
    this.#forget(streamName(category, id))
  }

  async close(): Promise<void> {
    this.#stopListening()
    await this.#subscription.close()
  }

  async #read(
    decider: AnyDecider,
    id: string,
    followed: Followed = { current: undefined },
  ): Promise<Snapshot> {
    const stream = streamName(decider.category, id)
    const reading = this.#executor.stored(decider, id, followed.known)
    followed.current = reading
    this.#states.set(stream, followed)
    try {
      followed.known = await reading
    } catch (error) {
      if (followed.current === reading) followed.current = undefined
      throw error
    }
    // Streams that do not exist could be any number.
    if (followed.known.revision === noStream) this.#states.delete(stream)
    return followed.known
  }

  #changed(stream: string): void {
    this.#changes++
    this.#forget(stream)
  }

  #forget(stream: string): void {
    const followed = this.#states.peek(stream)
    if (followed) followed.current = undefined
  }

  async #catchUp(): Promise<void> {
    const startedAt = performance.now()
    const head = await this.#store.head()
    const arrived = this.#through >= head || (await this.#arrives(head))
    if (!arrived) {
      this.#changes++
      for (const followed of this.#states.values()) followed.current = undefined
    }
    this.#checkedAt = startedAt
  }

  #arrives(head: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (arrived: boolean) => {
        clearTimeout(timer)
        this.#arrived = undefined
        resolve(arrived)
      }
      const timer = setTimeout(end, arrivesWithinMs, false)
      this.#arrived = () => this.#through >= head && end(true)
    })
  }
}
