import { setTimeout as pause } from 'node:timers/promises'
import type { Clock, Subscription } from '../../packages/kernel/ports.ts'
import type { RailCallback } from '../../packages/kernel/ports/rails.ts'
import type { CalledBack, ClaimedCallback, SandboxBook } from './sandbox-book.ts'

export interface CallbackOptions {
  readonly book: SandboxBook
  readonly clock: Clock
  readonly handle: (callback: RailCallback) => Promise<void>
  /** Called with errors of the records or the handler; both are retried. */
  readonly onError: (error: unknown) => void
}

const idleMs = 200
const batchMax = 500
/** After this long, callbacks claimed by a process that died go to others. */
const leaseMs = 30_000
/** Pauses before a callback whose handler rejects is repeated; the last one repeats for ever. */
const retryDelaysMs = [200, 1_000, 5_000, 15_000, 60_000]

/**
 * Advances operations when they are due, and calls the handler. Several processes may do so on one set of
 * records.
 */
export class SandboxCallbacks implements Subscription {
  readonly #options: CallbackOptions
  readonly #stopping = new AbortController()
  readonly #stopped: Promise<void>

  constructor(options: CallbackOptions) {
    this.#options = options
    this.#stopped = this.#run()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#stopped
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const worked = await this.#round().catch((error: unknown) => {
        this.#options.onError(error)
        return 0
      })
      if (worked === 0) await pause(idleMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Returns how much there was to do. */
  async #round(): Promise<number> {
    const { book, clock } = this.#options
    const now = clock()
    const steps = await book.advance({ now, limit: batchMax })
    const until = new Date(now.getTime() + leaseMs)
    const callbacks = await book.claimCallbacks({ now, until, limit: batchMax })
    if (callbacks.length === 0) return steps
    await book.settleCallbacks(await Promise.all(callbacks.map((callback) => this.#call(callback))))
    return callbacks.length
  }

  async #call({ attempts, ...callback }: ClaimedCallback): Promise<CalledBack> {
    const { clock, handle, onError } = this.#options
    const { reference } = callback
    try {
      await handle(callback)
      return { reference, attempts, accepted: true, nextAt: clock() }
    } catch (error) {
      onError(error)
      const delayMs = retryDelaysMs[Math.min(attempts, retryDelaysMs.length) - 1] ?? idleMs
      return { reference, attempts, accepted: false, nextAt: new Date(clock().getTime() + delayMs) }
    }
  }
}
