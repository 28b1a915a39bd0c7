import type { Owner } from '../../../packages/kernel/owner.ts'
import type { DueTimer, WantedTimers } from '../../../packages/kernel/ports/reads.ts'

type Timer = DueTimer<Owner>

/** Most work takes a hundredth of it; whoever asks an operator that is silent waits for seconds. */
const patienceMsUsual = 1_000
/** What was held up is wanted again at most so often, because that takes a look at all timers. */
const goOnEveryMsUsual = 1_000
/**
 * More of one kind are not begun beside those that a look has begun. All kinds that ask operators together
 * stay below what a look takes.
 */
const perKindMax = 32

/** Timers of one subject run one after the other. */
export function subjectOf({ subject }: Timer): string {
  return subject.split('.', 1)[0]!
}

interface Left {
  readonly timer: Timer
  readonly leftAt: number
  readonly gone: Promise<void>
  isOver: boolean
}

/**
 * Timers whose work lasts so long that the next look does not wait for it, mostly because an operator is
 * silent: each holds up all of its subject, that of a merchant whose clock is ahead all of its sandbox, and
 * many of them hold up their kind.
 */
export class HangingLanes {
  readonly #patienceMs: number
  readonly #goOnEveryMs: number
  /** Also what has ended, until the next look at all. */
  readonly #left = new Map<string, Left>()
  #kindsFull: readonly string[] = []
  #wentOnAt = Number.NEGATIVE_INFINITY

  constructor({ patienceMs = patienceMsUsual, goOnEveryMs = goOnEveryMsUsual } = {}) {
    this.#patienceMs = patienceMs
    this.#goOnEveryMs = goOnEveryMs
  }

  /** Of these kinds nothing more is begun for now. */
  get kindsFull(): readonly string[] {
    return this.#kindsFull
  }

  /** When the first of those that are under way was left (`performance.now`); infinite when none is. */
  get busySince(): number {
    const underWay = [...this.#left.values()].filter(({ isOver }) => !isOver)
    return Math.min(...underWay.map(({ leftAt }) => leftAt))
  }

  /**
   * What the look that begins now must leave out, if the clocks of these merchants are ahead. During a look
   * nothing that it left out goes on.
   */
  waiting(moved: ReadonlySet<string>): Required<Pick<WantedTimers, 'except' | 'heldUp'>> {
    this.#goOn()
    const timers = [...this.#left.values()].map(({ timer }) => timer)
    const sandboxes = timers.flatMap((timer) =>
      'merchant' in timer && !timer.livemode ? timer.merchant : [],
    )
    const merchants = [...new Set(sandboxes)].filter((merchant) => moved.has(merchant))
    const subjects = [...new Set(timers.map(subjectOf))]
    return { except: this.#kindsFull, heldUp: { subjects, merchants } }
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

  /** Until this has ended, the timer holds up what waits for it. */
  leave(timer: Timer, ended: Promise<void>): void {
    const gone = ended.finally(() => void (left.isOver = true))
    const left: Left = { timer, leftAt: performance.now(), isOver: false, gone }
    this.#left.set(timer.id, left)
    this.#countKinds()
  }

  /** When all that is left has ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#left.values()].map(({ gone }) => gone))
  }

  #goOn(): void {
    const now = performance.now()
    if (now - this.#wentOnAt < this.#goOnEveryMs) return
    const over = [...this.#left].filter(([, { isOver }]) => isOver)
    if (over.length === 0) return
    this.#wentOnAt = now
    for (const [id] of over) this.#left.delete(id)
    this.#countKinds()
  }

  #countKinds(): void {
    const kinds = [...this.#left.values()].map(({ timer }) => timer.kind)
    const isFull = (kind: string) => kinds.filter((each) => each === kind).length >= perKindMax
    this.#kindsFull = [...new Set(kinds)].filter(isFull)
  }
}
