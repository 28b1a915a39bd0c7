import type { DueTimer } from '../../packages/kernel/read-ports.ts'

type TimerKey = Pick<DueTimer, 'id' | 'dueAt'>

interface Finished {
  readonly dueAt: string
  readonly untilMs: number
}

/**
 * Timers whose work is done, until the read model has seen the events that remove them. A note in the
 * database for each of them, and its deletion, would be two writes more; whoever runs one again after a
 * crash finds nothing to do.
 */
export class FinishedTimers {
  /** By id, the oldest first. */
  readonly #finished = new Map<string, Finished>()

  add({ id, dueAt }: TimerKey, until: Date): void {
    this.#finished.delete(id)
    this.#finished.set(id, { dueAt, untilMs: until.getTime() })
  }

  has({ id, dueAt }: TimerKey): boolean {
    return this.#finished.get(id)?.dueAt === dueAt
  }

  /** Those whose time is over; they are forgotten. */
  takeOver(now: Date): readonly TimerKey[] {
    const over: TimerKey[] = []
    for (const [id, { dueAt, untilMs }] of this.#finished) {
      if (untilMs > now.getTime()) break
      this.#finished.delete(id)
      over.push({ id, dueAt })
    }
    return over
  }
}
