/** After a request by somebody else, the next one is expected for so long. */
const expectedMs = 250
/** For each lane so many results are told at once while more work waits. */
const toldTogether = 2

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
  #untold: (() => void)[] = []
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

  /**
   * In the order in which it is asked for. While more waits, a result waits for those of the next ones: what
   * is read and written after each of them shares statements then, and lanes go on meanwhile.
   */
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
      await new Promise<void>((tell) => this.#tellTogether(tell))
    }
  }

  /** As long as work waits, some is being done, and its end comes here too. */
  #tellTogether(tell: () => void): void {
    this.#untold.push(tell)
    if (this.#waiting.length > 0 && this.#untold.length < toldTogether * this.#mostNow()) return
    const told = this.#untold
    this.#untold = []
    for (const one of told) one()
  }

  /** At least one is always taken, and its end starts what had to wait. */
  #startNext(): void {
    while (this.#busy < this.#mostNow()) {
      const start = this.#waiting.shift()
      if (!start) return
      this.#busy++
      start()
    }
  }

  #mostNow(): number {
    const isShared = this.#now() < this.#othersUntil
    return isShared ? Math.max(1, this.#most - 1) : this.#most
  }
}
