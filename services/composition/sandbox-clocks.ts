import {
  sandboxClock,
  sandboxClockId,
  type SandboxClock,
} from '../../packages/domain/sandbox-clocks/sandbox-clock.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { foldStored } from '../../packages/kernel/history.ts'
import type { MovedClocks } from '../../packages/kernel/time/moved-clocks.ts'
import { asMerchant, type MerchantOwner, type Owner } from '../../packages/kernel/owner.ts'
import {
  noStream,
  type Clock,
  type EventStore,
  type Log,
  type Subscription,
} from '../../packages/kernel/ports.ts'
import type { DocumentRow, ReadStore } from '../../packages/kernel/ports/reads.ts'
import { isPassing } from './observing/failures.ts'

interface Moved {
  readonly aheadMs: number
  readonly revision: number
}

interface Parts {
  readonly store: EventStore
  readonly reads: ReadStore
  /** Real time. */
  readonly now: () => Date
  readonly log: Log
}

const rowsPerPage = 1_000
/** How late this process may learn that a merchant has moved its clock for the first time. */
const looksEveryMs = 10

/**
 * Each merchant's sandbox time. A merchant that has ever moved the clock is looked up before each decision,
 * so that all processes decide by the same time; for all others a process only needs to know that there is
 * nothing to look up, and follows the log for that.
 */
export class SandboxClocks implements MovedClocks {
  readonly #parts: Parts
  readonly #moved = new Map<string, Moved>()
  #following: Promise<Subscription> | undefined
  #isFollowing = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly clock: Clock = (owner) => {
    const now = this.#parts.now()
    const moved = owner && isSandbox(owner) ? this.#moved.get(owner.merchant) : undefined
    return moved ? new Date(now.getTime() + moved.aheadMs) : now
  }

  readonly known = (owner: Owner): Promise<void> | undefined => {
    if (!isSandbox(owner) || (this.#isFollowing && !this.#moved.has(owner.merchant))) return undefined
    return this.#look(owner.merchant)
  }

  ahead(): readonly { readonly merchant: string; readonly now: Date }[] {
    const now = this.#parts.now().getTime()
    return [...this.#moved].map(([merchant, { aheadMs }]) => ({ merchant, now: new Date(now + aheadMs) }))
  }

  learn(merchant: string, moved: Moved): void {
    const before = this.#moved.get(merchant)
    if (!before || before.revision < moved.revision) this.#moved.set(merchant, moved)
  }

  async follow(): Promise<void> {
    this.#following ??= this.#follow()
    try {
      await this.#following
    } catch (error) {
      this.#following = undefined
      throw error
    }
  }

  async close(): Promise<void> {
    await (await this.#following)?.close()
  }

  async #look(merchant: string): Promise<void> {
    const { aheadMs, revision } = this.#moved.get(merchant) ?? { aheadMs: 0, revision: noStream }
    const stream = streamName(sandboxClock.category, sandboxClockId(merchant))
    const events = await this.#parts.store.readStream(stream, revision + 1)
    if (events.length === 0) return
    const state = foldStored(sandboxClock, events, { aheadMs, movedAt: null }) as SandboxClock
    this.learn(merchant, { aheadMs: state.aheadMs, revision: revision + events.length })
  }

  async #follow(): Promise<Subscription> {
    const { store, log } = this.#parts
    const subscription = store.subscribe({
      after: await this.#load(),
      categories: [sandboxClock.category],
      batchSize: 1_000,
      everyMs: looksEveryMs,
      onError: (error) => log.warn({ error }, 'sandbox clocks are looked up again'),
      handle: async (events) => {
        await Promise.all(events.map(({ metadata }) => this.#lookOrNote(asMerchant(metadata).merchant)))
      },
    })
    this.#isFollowing = true
    return subscription
  }

  /** A clock that cannot be read affects its merchant alone: its decisions look it up and are refused. */
  async #lookOrNote(merchant: string): Promise<void> {
    try {
      await this.#look(merchant)
    } catch (error) {
      if (isPassing(error)) throw error
      this.#parts.log.error({ merchant, error }, 'a sandbox clock cannot be read: its merchant is refused')
      this.learn(merchant, { aheadMs: 0, revision: noStream })
    }
  }

  /** Everything the read model knows, with its position. */
  async #load(): Promise<number> {
    let reached: number | undefined
    for (let after = 0; ;) {
      const { rows, position } = await this.#parts.reads.page<DocumentRow>({
        from: 'sandbox_clocks',
        where: [{ column: 'created', operator: '>', value: after }],
        order: 'created',
        ascending: true,
        limit: rowsPerPage,
      })
      reached ??= position
      for (const { merchant, state, revision } of rows)
        this.learn(merchant, { aheadMs: (state as SandboxClock).aheadMs, revision })
      if (rows.length < rowsPerPage) return reached
      after = rows.at(-1)!.created
    }
  }
}

/** Nobody else's time moves. */
function isSandbox(owner: Owner): owner is MerchantOwner {
  return 'merchant' in owner && !owner.livemode
}
