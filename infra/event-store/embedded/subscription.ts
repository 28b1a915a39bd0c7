import { setTimeout as pause } from 'node:timers/promises'
import type { Subscription, SubscriptionOptions } from '../../../packages/kernel/ports.ts'
import type { Reader, Window } from './reader.ts'
import type { RecentEvents } from './recent.ts'
import { restAfter } from '../rest.ts'

/** How soon events of other processes are seen; those of this process are told at once. */
const pollMs = 75
const retryMs = { first: 100, most: 5_000 }

/** Knows how far the log goes. One poll serves all subscriptions of the process. */
export class Tail {
  readonly #reader: Reader
  #head = 0
  #wakers = new Set<() => void>()
  #polling = false

  constructor(reader: Reader) {
    this.#reader = reader
  }

  advance(position: number): void {
    if (position <= this.#head) return
    this.#head = position
    this.wake()
  }

  /**
   * Resolves when the log may go beyond the position, and when the signal is aborted and `wake` is called.
   */
  async beyond(position: number, signal: AbortSignal): Promise<void> {
    while (this.#head <= position && !signal.aborted) {
      await new Promise<void>((wake) => {
        this.#wakers.add(wake)
        void this.#poll()
      })
    }
  }

  wake(): void {
    const wakers = this.#wakers
    this.#wakers = new Set()
    for (const wake of wakers) wake()
  }

  /** While the server is away nothing is added to the log, so a poll that fails has only to be repeated. */
  async #poll(): Promise<void> {
    if (this.#polling) return
    this.#polling = true
    while (this.#wakers.size > 0) {
      await pause(pollMs)
      this.advance(await this.#reader.head().catch(() => 0))
    }
    this.#polling = false
  }
}

/** Catches up and then follows. A batch is read while the one before is handled, as long as there is more. */
export class EmbeddedSubscription implements Subscription {
  readonly #log: RecentEvents
  readonly #tail: Tail
  readonly #options: SubscriptionOptions
  readonly #stopping = new AbortController()
  readonly #stopped: Promise<void>
  #position: number

  constructor(log: RecentEvents, tail: Tail, options: SubscriptionOptions) {
    this.#log = log
    this.#tail = tail
    this.#options = options
    this.#position = options.after
    this.#stopped = this.#follow()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    this.#tail.wake()
    await this.#stopped
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    const { everyMs = 0 } = this.#options
    let ahead: Promise<Window | undefined> | undefined
    while (!signal.aborted) {
      const window = await (ahead ?? this.#read(this.#position))
      ahead = undefined
      if (!window) continue
      if (window.through < window.head) ahead = this.#read(window.through)
      if (this.#mayBeSkipped(window)) continue
      const startedAt = performance.now()
      await this.#handle(window)
      if (!ahead) await restAfter({ events: window.events.length, startedAt }, everyMs, signal)
    }
    await ahead
  }

  /**
   * Windows in which the filter leaves nothing are passed over, but for the last one: it says how far the
   * consumer has come.
   */
  #mayBeSkipped({ events, through, head }: Window): boolean {
    return events.length === 0 && (through < head || through === this.#position)
  }

  async #handle({ events, through }: Window): Promise<void> {
    const done = await this.#untilDone(async () => {
      await this.#options.handle(events, through)
      return true
    })
    if (done) this.#position = through
  }

  #read(after: number): Promise<Window | undefined> {
    return this.#untilDone(async () => {
      await this.#tail.beyond(after, this.#stopping.signal)
      return this.#log.window(after, this.#options.batchSize, this.#options)
    })
  }

  /** Repeats what fails, after pauses that grow; `undefined` when the subscription was closed meanwhile. */
  async #untilDone<Result>(attempt: () => Promise<Result>): Promise<Result | undefined> {
    const { signal } = this.#stopping
    for (let delayMs = retryMs.first; !signal.aborted; delayMs = Math.min(2 * delayMs, retryMs.most)) {
      try {
        return await attempt()
      } catch (error) {
        this.#options.onError?.(error)
        await pause(delayMs, undefined, { signal }).catch(() => undefined)
      }
    }
    return undefined
  }
}
