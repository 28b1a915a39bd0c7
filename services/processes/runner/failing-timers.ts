import type { Owner } from '../../../packages/kernel/owner.ts'
import type { Log } from '../../../packages/kernel/ports.ts'
import type { DueTimer } from '../../../packages/kernel/ports/reads.ts'

type Timer = DueTimer<Owner>

interface Failing {
  readonly isLive: boolean
  readonly sinceMs: number
  lastMs: number
}

const minuteMs = 60_000
const delayMs = { least: 2_000, most: 5 * minuteMs }
/** Long enough for an operator or an engine to be restarted. */
const toldAfterMs = minuteMs
/** Tried no more: an event has removed it, or its share belongs to another process. */
const forgottenAfterMs = 2 * delayMs.most
/** While everything fails, so many tell enough. */
const keptMax = 10_000

/**
 * Timers whose work fails in passing, again and again. One such failure is none; but for hours it means that
 * money waits, and nothing else says so.
 */
export class FailingTimers {
  readonly #log: Log
  readonly #now: () => number
  readonly #failing = new Map<string, Failing>()
  #toldAtMs = Number.NEGATIVE_INFINITY
  #lookedAtMs = Number.NEGATIVE_INFINITY

  /** `now`: milliseconds that only grow, because merchants' clocks may be moved. */
  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  /**
   * Answers after how many milliseconds it is tried again: a quarter of the time that it has failed. Where so
   * many fail that this is not known, twice as long after each attempt.
   */
  failed(timer: Timer, error: unknown): number {
    const now = this.#now()
    this.#forget()
    const known = this.#failing.get(timer.id)
    const failing = known ?? { isLive: !('livemode' in timer) || timer.livemode, sinceMs: now, lastMs: now }
    failing.lastMs = now
    if (!known && this.#failing.size >= keptMax)
      return Math.min(delayMs.most, delayMs.least * 2 ** timer.attempts)
    this.#failing.set(timer.id, failing)
    const failingMs = now - failing.sinceMs
    this.#tell(timer, { failingMs, error })
    return Math.min(delayMs.most, Math.max(delayMs.least, failingMs / 4))
  }

  worked({ id }: Timer): void {
    this.#failing.delete(id)
  }

  /** For how many seconds the one of each environment has failed that has failed for longest. */
  get longestSeconds(): Readonly<Record<'live' | 'sandbox', number>> {
    this.#forget()
    const now = this.#now()
    const longest = { live: 0, sandbox: 0 }
    for (const { isLive, sinceMs } of this.#failing.values()) {
      const environment = isLive ? 'live' : 'sandbox'
      longest[environment] = Math.max(longest[environment], (now - sinceMs) / 1_000)
    }
    return longest
  }

  /** Once a minute: those that nobody tries any more would fill the place of those that fail now. */
  #forget(): void {
    const now = this.#now()
    if (now - this.#lookedAtMs < minuteMs) return
    this.#lookedAtMs = now
    for (const [id, { lastMs }] of this.#failing)
      if (now - lastMs > forgottenAfterMs) this.#failing.delete(id)
  }

  /** Once a minute for all of them, or an outage would fill the log. */
  #tell({ id }: Timer, { failingMs, error }: { readonly failingMs: number; readonly error: unknown }): void {
    const now = this.#now()
    if (failingMs < toldAfterMs || now - this.#toldAtMs < minuteMs) return
    this.#toldAtMs = now
    const failing = this.#failing.size
    this.#log.warn({ timer: id, failingMs, failing, error }, 'timers keep failing, and are tried again')
  }
}
