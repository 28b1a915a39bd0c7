import { LRUCache } from 'lru-cache'
import { streamName, type Decider, type Payloads } from '../../../packages/kernel/decider.ts'
import type { Executor } from '../../../packages/kernel/execute.ts'
import { foldStored } from '../../../packages/kernel/history.ts'
import type { Owner } from '../../../packages/kernel/owner.ts'
import { noStream, type EventStore, type Subscription } from '../../../packages/kernel/ports.ts'

const statesKept = 20_000
/** How late this process may learn of a change. */
const looksEveryMs = 10

interface Parts {
  readonly store: EventStore
  /** Position of the log at the start. */
  readonly head: number
  /** Of the streams whose states are asked for. */
  readonly categories: readonly string[]
  /** Given, what this process has written itself is known at once. */
  readonly executor?: Pick<Executor, 'answered'>
}

interface Known {
  readonly state: object
  readonly revision: number
}

/** States of streams that requests need again and again: cached until somebody appends to the stream. */
export class FollowedStates {
  readonly #store: EventStore
  readonly #executor: Parts['executor']
  readonly #states = new LRUCache<string, Known>({ max: statesKept })
  readonly #subscription: Subscription
  #changes = 0

  constructor({ store, head, categories, executor }: Parts) {
    this.#store = store
    this.#executor = executor
    this.#subscription = store.subscribe({
      after: head,
      categories,
      batchSize: 1_000,
      everyMs: looksEveryMs,
      handle: async (events) => {
        this.#changes += events.length
        for (const { stream } of events) this.#states.delete(stream)
      },
    })
  }

  /** Number of events so far: what was made of states is still good where it has not moved. */
  get changes(): number {
    return this.#changes
  }

  async of<S extends object, C extends Payloads, E extends Payloads, O extends Owner>(
    decider: Decider<S, C, E, O>,
    id: string,
  ): Promise<S> {
    const stream = streamName(decider.category, id)
    const known = this.#states.get(stream)
    const written = this.#executor?.answered(decider, id) ?? noStream
    if (known && known.revision >= written) return known.state as S
    const changes = this.#changes
    const events = await this.#store.readStream(stream, 0)
    const state = foldStored(decider, events) as S
    // A change that arrived meanwhile may be missing here. Streams that do not exist could be any number.
    const revision = events.at(-1)?.revision
    if (revision !== undefined && changes === this.#changes) this.#states.set(stream, { state, revision })
    return state
  }

  forget<S, C extends Payloads, E extends Payloads, O extends Owner>(
    { category }: Decider<S, C, E, O>,
    id: string,
  ): void {
    this.#states.delete(streamName(category, id))
  }

  close(): Promise<void> {
    return this.#subscription.close()
  }
}
