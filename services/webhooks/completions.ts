import { setTimeout as pause } from 'node:timers/promises'
import type { Attempted } from '../../infra/postgres/webhooks/deliveries.ts'
import type { Log } from '../../packages/kernel/ports.ts'

export interface CompletionsOptions {
  /** Writes a batch; rows written before are skipped, so a batch may be repeated. */
  readonly write: (batch: readonly Attempted[]) => Promise<void>
  readonly onWritten: (batch: readonly Attempted[]) => void
  readonly log: Log
}

const batchMax = 1_000
/** With this many results unwritten, callers that add more have to wait. */
const unwrittenMax = 2_000
const retryMs = { first: 100, most: 5_000 }

/**
 * Results of attempts on their way to Postgres: those that arrive while a batch is being written form the
 * next one.
 */
export class Completions {
  readonly #options: CompletionsOptions
  #next: Attempted[] = []
  #writing: readonly Attempted[] = []
  #written: Promise<void> = Promise.resolve()
  #closing = false

  constructor(options: CompletionsOptions) {
    this.#options = options
  }

  /** Returns a promise to wait for when writing does not keep up. */
  add(attempted: Attempted): Promise<void> | undefined {
    this.#next.push(attempted)
    if (this.#writing.length === 0) this.#written = this.#write()
    return this.#next.length > unwrittenMax ? this.#written : undefined
  }

  /** Ids whose result is not written yet. */
  held(): readonly number[] {
    return [...this.#writing, ...this.#next].map(({ id }) => id)
  }

  /**
   * Writes what is left. While Postgres is down that fails: those deliveries are repeated after the lease has
   * expired.
   */
  async close(): Promise<void> {
    this.#closing = true
    while (this.#writing.length + this.#next.length > 0) await this.#written
  }

  async #write(): Promise<void> {
    while (this.#next.length > 0) {
      this.#writing = this.#next.splice(0, batchMax)
      await this.#untilWritten(this.#writing)
      this.#options.onWritten(this.#writing)
      this.#writing = []
    }
  }

  /** A lost result means a repeated attempt, so writing is retried until it succeeds. */
  async #untilWritten(batch: readonly Attempted[]): Promise<void> {
    for (let delayMs = retryMs.first; ; delayMs = Math.min(2 * delayMs, retryMs.most)) {
      try {
        return await this.#options.write(batch)
      } catch (error) {
        this.#options.log.warn(
          { error, deliveries: batch.length },
          'writing down deliveries failed and is repeated',
        )
        if (this.#closing) return
        await pause(delayMs)
      }
    }
  }
}
