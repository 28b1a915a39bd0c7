import { setTimeout as pause } from 'node:timers/promises'
import type { Checkpoints } from '../../../infra/postgres/consumers/checkpoints.ts'
import type { ReadStore } from '../../../packages/kernel/ports/reads.ts'

/** Consumers that do what follows from the work of timers, besides the read models. */
const followers = ['policies', 'reactions', 'relay']
const lookEveryMs = 10
/** A consumer that stands still does not hold up everybody's timers. */
const waitMostMsUsual = 1_000

export interface TimerPaceOptions {
  readonly checkpoints: Pick<Checkpoints, 'least'>
  readonly reads: Pick<ReadStore, 'reached'>
  readonly waitMostMs?: number
}

/**
 * Lets timers run one look ahead of those who follow the log. Much further behind, all of them would read
 * again what was just written, and requests would wait beside that: 100,000 renewals at one moment took
 * lists 637 ms instead of 11 (p99).
 */
export class TimerPace {
  readonly #options: TimerPaceOptions
  /** What was written before the last look. */
  #before = 0

  constructor(options: TimerPaceOptions) {
    this.#options = options
  }

  /** To be awaited after each look; `written` is the position that this process has written by then. */
  async keep(written: number, signal: AbortSignal): Promise<void> {
    const { checkpoints, reads, waitMostMs = waitMostMsUsual } = this.#options
    const until = performance.now() + waitMostMs
    const position = this.#before
    this.#before = written
    while ((await checkpoints.least(followers)) < position) {
      if (signal.aborted || performance.now() > until) return
      await pause(lookEveryMs)
    }
    await reads.reached(position, Math.max(0, until - performance.now()))
  }
}
