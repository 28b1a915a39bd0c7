import { randomOf, type Random } from './random.ts'
import type { FaultPlan } from './engines/faults.ts'

/** A process from its start to its crash. Whatever is answered to a dead one is not heard. */
export interface Life {
  readonly name: string
  alive: boolean
}

/** What has no process: operators, the bus, requests that outlive who made them. */
export const nobody: Life = { name: 'the world', alive: true }

interface Completion {
  readonly dueAt: number
  readonly life: Life
  readonly run: () => void
}

const startsAt = Date.parse('2026-01-05T08:00:00.000Z')

/**
 * Everything that takes time ends here: a call waits in the queue until it is chosen, and which one is next
 * is decided by the random numbers of the step. No timer, no input and no output has a part in it.
 */
export class Scheduler {
  now = startsAt
  random: Random
  faults: FaultPlan
  #ready: Completion[] = []
  #later: Completion[] = []

  constructor(seed: number, faults: FaultPlan) {
    this.random = randomOf(seed, -1)
    this.faults = faults
  }

  readonly clock = (): Date => new Date(this.now)

  get pending(): number {
    return this.#ready.length + this.#later.length
  }

  /** Time goes on: what becomes due now can be chosen. */
  advance(byMs: number): void {
    this.now += byMs
    if (this.#later.length === 0) return
    const due = this.#later.filter(({ dueAt }) => dueAt <= this.now)
    if (due.length === 0) return
    this.#later = this.#later.filter(({ dueAt }) => dueAt > this.now)
    this.#ready.push(...due)
  }

  /** When the next thing happens by itself; `undefined` when something can happen now, or nothing will. */
  get nextDueAt(): number | undefined {
    if (this.#ready.length > 0 || this.#later.length === 0) return undefined
    return this.#later.reduce((least, { dueAt }) => Math.min(least, dueAt), Infinity)
  }

  after(delayMs: number, life: Life, run: () => void): void {
    const completion = { dueAt: this.now + delayMs, life, run }
    if (delayMs > 0) this.#later.push(completion)
    else this.#ready.push(completion)
  }

  /** Ends one of the calls that are under way; false when there is none. */
  deliver(): boolean {
    for (;;) {
      const place = this.random.below(this.#ready.length)
      const chosen = this.#ready[place]
      if (!chosen) return false
      const last = this.#ready.pop()!
      if (last !== chosen) this.#ready[place] = last
      if (!chosen.life.alive) continue
      chosen.run()
      return true
    }
  }

  pause(life: Life, delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, life, resolve))
  }

  /**
   * A call over the network. The work is done before anything else happens or only when the answer comes; a
   * request that is under way when its caller dies may still be carried out.
   */
  call<Result>(life: Life, work: () => Result): Promise<Result> {
    if (!life.alive) return new Promise(() => undefined)
    if (this.random.chance(this.faults.instant)) return settled(work)
    const early = this.random.chance(0.5) ? settled(work) : undefined
    early?.catch(() => undefined)
    return new Promise((resolve) => {
      const arrives = this.random.chance(0.5)
      this.after(0, early ? life : nobody, () => {
        if (early) resolve(early)
        else if (life.alive) resolve(settled(work))
        else if (arrives) settled(work).catch(() => undefined)
      })
    })
  }
}

function settled<Result>(work: () => Result): Promise<Result> {
  try {
    return Promise.resolve(work())
  } catch (error) {
    return Promise.reject(error)
  }
}

/**
 * Lets everything go on that can. One turn of the event loop runs all promises whose time has come, and
 * nothing else is in that loop.
 */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
