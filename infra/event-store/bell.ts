interface Waiting {
  readonly wake: () => void
  readonly fail: (error: unknown) => void
}

/** Knows how far the log goes, and wakes those who wait for more of it. */
export class Bell {
  readonly #onWaiting: () => void
  #head = 0
  #waiting = new Set<Waiting>()

  /** `onWaiting` is called whenever somebody begins to wait. */
  constructor(onWaiting: () => void) {
    this.#onWaiting = onWaiting
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  advance(position: number): void {
    if (position <= this.#head) return
    this.#head = position
    this.wake()
  }

  /** What was known of the log may no longer be so: whoever waits waits until it is known anew. */
  forget(): void {
    this.#head = 0
  }

  /**
   * Resolves when the log may go beyond the position, and when the signal is aborted and `wake` is called.
   * Rejects when nobody can tell how far the log goes.
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

  /** Tells those who wait why they wait. */
  fail(error: unknown): void {
    for (const { fail } of this.#everyone()) fail(error)
  }

  #everyone(): ReadonlySet<Waiting> {
    const waiting = this.#waiting
    this.#waiting = new Set()
    return waiting
  }
}
