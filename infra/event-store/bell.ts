interface Waiting {
  readonly wake: () => void
  readonly fail: (error: unknown) => void
}

/** Knows the head of the log and wakes those who wait for it to move. */
export class Bell {
  readonly #onWaiting: () => void
  #head = 0
  #movedAt = Number.NEGATIVE_INFINITY
  #waiting = new Set<Waiting>()

  /** `onWaiting` is called whenever a caller starts to wait. */
  constructor(onWaiting: () => void) {
    this.#onWaiting = onWaiting
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  /** When the head was last found further on: `performance.now`. */
  get movedAt(): number {
    return this.#movedAt
  }

  advance(position: number): void {
    if (position <= this.#head) return
    this.#head = position
    this.#movedAt = performance.now()
    this.wake()
  }

  /** What was known of the log may no longer be true: waiters wait until it is known again. */
  forget(): void {
    this.#head = 0
  }

  /**
   * Resolves when the log may have moved past the position, or when the signal is aborted and `wake` is
   * called. Rejects when the head cannot be found out.
   */
  async beyond(position: number, signal: AbortSignal): Promise<void> {
    while (this.#head <= position && !signal.aborted) {
      await new Promise<void>((wake, fail) => {
        this.#waiting.add({ wake, fail })
        this.#onWaiting()
      })
    }
  }

  wake(): void {
    for (const { wake } of this.#everyone()) wake()
  }

  /** Passes the reason for the wait on to the waiters. */
  fail(error: unknown): void {
    for (const { fail } of this.#everyone()) fail(error)
  }

  #everyone(): ReadonlySet<Waiting> {
    const waiting = this.#waiting
    this.#waiting = new Set()
    return waiting
  }
}
