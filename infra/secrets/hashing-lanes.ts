/** After a request by somebody else, the next one is expected for so long. */
const expectedMs = 250

export interface LaneOptions {
  /** Worked on at a time while nobody else is served. */
  readonly most: number
  /** In milliseconds, from any beginning. */
  readonly now: () => number
}

/**
 * Leaves one processor free while others are served. A low priority alone does not do that: Linux weighs it
 * only within a session or a control group, and Postgres is in another one, so it would wait.
 */
export class HashingLanes {
  readonly #most: number
  readonly #now: () => number
  readonly #waiting: (() => void)[] = []
  #busy = 0
  #othersUntil = -Infinity

  constructor({ most, now }: LaneOptions) {
    this.#most = most
    this.#now = now
  }

  /** Somebody else is served. */
  shareProcessors(): void {
    this.#othersUntil = this.#now() + expectedMs
  }

  /** In the order in which it is asked for. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((start) => {
      this.#waiting.push(start)
      this.#startNext()
    })
    try {
      return await work()
    } finally {
      this.#busy--
      this.#startNext()
    }
  }

  /** At least one is always taken, and its end starts what had to wait. */
  #startNext(): void {
    const isShared = this.#now() < this.#othersUntil
    const most = isShared ? Math.max(1, this.#most - 1) : this.#most
    while (this.#busy < most) {
      const start = this.#waiting.shift()
      if (!start) return
      this.#busy++
      start()
    }
  }
}
