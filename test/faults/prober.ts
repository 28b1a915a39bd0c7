import { setTimeout as pause } from 'node:timers/promises'
import type { Ending } from '../support/processes/ending.ts'

export interface Probed {
  /** Where the API listens now. */
  readonly addresses: () => readonly string[]
  readonly key: string
}

const everyMs = 100
/** A probe that is answered later counts when it is answered, so it may take its time. */
const timeoutMs = 20_000
const intent = JSON.stringify({ amount: 1_000, currency: 'XOF', transaction_country: 'SN' })

/** Writes through every API again and again, and knows when it could. */
export class Prober {
  readonly #probed: Probed
  readonly #successes: number[] = []
  readonly #probes = new Set<Promise<void>>()
  readonly #running: Promise<void>
  #stopped = false

  constructor(ending: Ending, probed: Probed) {
    this.#probed = probed
    this.#running = this.#run()
    ending.teardown(() => this.stop())
  }

  /** Resolves when nothing is asked any more. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
    await Promise.all(this.#probes)
  }

  /** The longest time between these moments in which nothing could be written; seconds. */
  longestGapSeconds(from: number, through: number): number {
    const within = this.#successes.filter((success) => success > from && success < through)
    const moments = [from, ...within, through]
    const gaps = moments.slice(1).map((moment, index) => moment - moments[index]!)
    return Math.max(...gaps) / 1_000
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      for (const address of this.#probed.addresses()) {
        const probe = this.#probe(address).finally(() => this.#probes.delete(probe))
        this.#probes.add(probe)
      }
      await pause(everyMs)
    }
  }

  async #probe(address: string): Promise<void> {
    const headers = { authorization: `Bearer ${this.#probed.key}`, 'content-type': 'application/json' }
    const asked = { method: 'POST', headers, body: intent, signal: AbortSignal.timeout(timeoutMs) }
    // No answer is what a prober is there for.
    const response = await fetch(`${address}/api/v1/payment-intents`, asked).catch(() => undefined)
    await response?.arrayBuffer().catch(() => undefined)
    if (response?.status === 201) this.#successes.push(performance.now())
  }
}
