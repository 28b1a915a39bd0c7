import { ownerText, type Owner } from '../../../packages/kernel/owner.ts'
import type { DueTimer } from '../../../packages/kernel/ports/reads.ts'

type Timer = DueTimer<Owner>

/** Most work takes a hundredth of it; whoever asks an operator that is silent waits for seconds. */
const patienceMsUsual = 1_000
/**
 * More of one kind are not begun beside those that a look has begun. All kinds that ask operators together
 * stay below what a look takes.
 */
const perKindMax = 32

/** Timers of one subject run one after the other; those of a merchant whose clock was moved, all of them. */
export function laneKey(timer: Timer, isMoved: boolean): string {
  return isMoved ? ownerText(timer) : timer.subject.split('.', 1)[0]!
}

/**
 * Timers whose work lasts so long that the next look does not wait for it, mostly because an operator is
 * silent: each holds up its own lane, and many of them their kind.
 */
export class HangingLanes {
  readonly #patienceMs: number
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #lanes = new Map<string, number>()
  readonly #kinds = new Map<string, number>()
  readonly #kindsFull = new Set<string>()

  constructor(patienceMs = patienceMsUsual) {
    this.#patienceMs = patienceMs
  }

  /** Of these kinds nothing more is begun for now. */
  get kindsFull(): readonly string[] {
    return [...this.#kindsFull]
  }

  get isEmpty(): boolean {
    return this.#underWay.size === 0
  }

  has({ id }: Timer): boolean {
    return this.#underWay.has(id)
  }

  holdsUp(lane: string): boolean {
    return this.#lanes.has(lane)
  }

  /** Whether the work has not ended when it should have. */
  async isOverdue(work: Promise<unknown>): Promise<boolean> {
    let impatience: NodeJS.Timeout | undefined
    const overdue = new Promise<true>((resolve) => {
      impatience = setTimeout(() => resolve(true), this.#patienceMs)
    })
    try {
      return await Promise.race([work.then(() => false), overdue])
    } finally {
      clearTimeout(impatience)
    }
  }

  /** Until this has ended, the timer's lane is held up, and is not begun again. */
  leave(timer: Timer, ended: Promise<void>): void {
    // A merchant's clock may be moved meanwhile, which makes another lane of it.
    const lanes = [laneKey(timer, false), laneKey(timer, true)]
    for (const lane of lanes) add(this.#lanes, lane, 1)
    if (add(this.#kinds, timer.kind, 1) >= perKindMax) this.#kindsFull.add(timer.kind)
    const gone = ended.finally(() => {
      this.#underWay.delete(timer.id)
      for (const lane of lanes) add(this.#lanes, lane, -1)
      // Half of them at a time, because a look for a kind that was left out is one at all timers.
      if (add(this.#kinds, timer.kind, -1) < perKindMax / 2) this.#kindsFull.delete(timer.kind)
    })
    this.#underWay.set(timer.id, gone)
  }

  /** When all that is left has ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay.values())
  }
}

function add(counts: Map<string, number>, key: string, more: number): number {
  const count = (counts.get(key) ?? 0) + more
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
  return count
}
