import type { Owner } from '../../../packages/kernel/owner.ts'
import {
  kindOfText,
  type DueTimer,
  type KindOf,
  type WantedTimers,
} from '../../../packages/kernel/ports/reads.ts'

type Timer = DueTimer<Owner>

/** Most work takes a hundredth of it; whoever asks an operator that is silent waits for seconds. */
const patienceMsUsual = 1_000
/** What was held up is wanted again at most so often, because that takes a look at all timers. */
const goOnEveryMsUsual = 1_000
/** More of one kind are not begun: each waits with a connection to its operator. */
const perKindMax = 1_024
/** More of one kind and owner are not begun, so that the kind stays open to all others. */
const perOwnerMax = 64
/** So long after the last of a kind and owner was left, a look begins no more of them at once either. */
const doubtMs = 60_000

/** Timers of one subject run one after the other. */
export function subjectOf({ subject }: Timer): string {
  return subject.split('.', 1)[0]!
}

const kindOf = (timer: Timer): KindOf => ({ kind: timer.kind, owner: timer })

interface Left {
  readonly timer: Timer
  readonly leftAt: number
  readonly gone: Promise<void>
  isOver: boolean
}

interface Doubtful extends KindOf {
  left: number
  leftAt: number
}

/**
 * Timers whose work lasts so long that the next look does not wait for it, mostly because an operator is
 * silent: each holds up all of its subject, that of a merchant whose clock is ahead all of its sandbox, and
 * many of them hold up their kind, for their owner at first.
 */
export class HangingLanes {
  readonly #patienceMs: number
  readonly #goOnEveryMs: number
  /** Also what has ended, until the next look at all. */
  readonly #left = new Map<string, Left>()
  readonly #leftOfKind = new Map<string, number>()
  readonly #doubtful = new Map<string, Doubtful>()
  /** By kind and owner: begun, and not left yet. */
  readonly #begun = new Map<string, number>()
  #wentOnAt = Number.NEGATIVE_INFINITY

  constructor({ patienceMs = patienceMsUsual, goOnEveryMs = goOnEveryMsUsual } = {}) {
    this.#patienceMs = patienceMs
    this.#goOnEveryMs = goOnEveryMs
  }

  /** When the first of those that are under way was left (`performance.now`); infinite when none is. */
  get busySince(): number {
    const underWay = [...this.#left.values()].filter(({ isOver }) => !isOver)
    return Math.min(...underWay.map(({ leftAt }) => leftAt))
  }

  /** Whether what was begun then (`performance.now`) has not lasted for too long. */
  isPatientSince(begunAt: number): boolean {
    return performance.now() - begunAt < this.#patienceMs
  }

  /** Whether no more of its kind may begin now, for its owner or at all. */
  isFull(timer: Timer): boolean {
    if (this.#isKindFull(timer.kind)) return true
    const key = kindOfText(kindOf(timer))
    const doubtful = this.#doubtful.get(key)
    return doubtful !== undefined && doubtful.left + (this.#begun.get(key) ?? 0) >= perOwnerMax
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
    const kindsOf = [...this.#doubtful.values()].filter(({ left }) => left >= perOwnerMax)
    const except = [...this.#leftOfKind.keys()].filter((kind) => this.#isKindFull(kind))
    return { except, heldUp: { subjects, merchants, kindsOf } }
  }

  /** Whether the work has not ended when it should have. */
  async isOverdue(timer: Timer, work: Promise<unknown>): Promise<boolean> {
    const key = kindOfText(kindOf(timer))
    add(this.#begun, key, 1)
    let impatience: NodeJS.Timeout | undefined
    const overdue = new Promise<true>((resolve) => {
      impatience = setTimeout(() => resolve(true), this.#patienceMs)
    })
    try {
      return await Promise.race([work.then(() => false), overdue])
    } finally {
      clearTimeout(impatience)
      add(this.#begun, key, -1)
    }
  }

  /** Until this has ended, the timer holds up what waits for it. */
  leave(timer: Timer, ended: Promise<void>): void {
    const leftAt = performance.now()
    const gone = ended.finally(() => void (left.isOver = true))
    const left: Left = { timer, leftAt, isOver: false, gone }
    this.#left.set(timer.id, left)
    add(this.#leftOfKind, timer.kind, 1)
    const key = kindOfText(kindOf(timer))
    const before = this.#doubtful.get(key)?.left ?? 0
    this.#doubtful.set(key, { ...kindOf(timer), left: before + 1, leftAt })
  }

  /** When all that is left has ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#left.values()].map(({ gone }) => gone))
  }

  #isKindFull(kind: string): boolean {
    return (this.#leftOfKind.get(kind) ?? 0) >= perKindMax
  }

  #goOn(): void {
    const now = performance.now()
    for (const [key, { left, leftAt }] of this.#doubtful)
      if (left === 0 && now - leftAt >= doubtMs) this.#doubtful.delete(key)
    if (now - this.#wentOnAt < this.#goOnEveryMs) return
    const over = [...this.#left].filter(([, { isOver }]) => isOver)
    if (over.length === 0) return
    this.#wentOnAt = now
    for (const [id, { timer }] of over) {
      this.#left.delete(id)
      add(this.#leftOfKind, timer.kind, -1)
      this.#doubtful.get(kindOfText(kindOf(timer)))!.left--
    }
  }
}

function add(counts: Map<string, number>, key: string, more: number): void {
  const count = (counts.get(key) ?? 0) + more
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
