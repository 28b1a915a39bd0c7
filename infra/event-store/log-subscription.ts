import { setTimeout as pause } from 'node:timers/promises'
import type { Subscription, SubscriptionOptions } from '../../packages/kernel/ports.ts'
import type { Bell } from './bell.ts'
import type { RecentEvents } from './recent-events.ts'
import { restAfter } from './rest.ts'
import type { Window } from './window.ts'

const retryMs = { first: 100, most: 5_000 }

/** Catches up and then follows. While there is more, the next batch is read as the last one is handled. */
export class LogSubscription implements Subscription {
  readonly #log: RecentEvents
  readonly #bell: Bell
  readonly #options: SubscriptionOptions
  readonly #stopping = new AbortController()
  readonly #stopped: Promise<void>
  #position: number

  constructor(log: RecentEvents, bell: Bell, options: SubscriptionOptions) {
    this.#log = log
    this.#bell = bell
    this.#options = options
    this.#position = options.after
    this.#stopped = this.#follow()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    this.#bell.wake()
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
   * Windows that the filter leaves empty are skipped, except the last one: it tells how far the consumer has
   * come.
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
      await this.#bell.beyond(after, this.#stopping.signal)
      return this.#log.window(after, this.#options.batchSize, this.#options)
    })
  }

  /** Retries after growing pauses; `undefined` when the subscription was closed meanwhile. */
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
