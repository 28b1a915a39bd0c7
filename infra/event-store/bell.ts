/** Knows how far the log goes, and wakes those who wait for more of it. */
export class Bell {
  readonly #onWaiting: () => void
  #head = 0
  #wakers = new Set<() => void>()

  /** `onWaiting` is called whenever somebody begins to wait. */
  constructor(onWaiting: () => void) {
    this.#onWaiting = onWaiting
  }

  get isAwaited(): boolean {
    return this.#wakers.size > 0
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
   */
  async beyond(position: number, signal: AbortSignal): Promise<void> {
    while (this.#head <= position && !signal.aborted) {
      await new Promise<void>((wake) => {
        this.#wakers.add(wake)
        this.#onWaiting()
      })
    }
  }

  wake(): void {
    const wakers = this.#wakers
    this.#wakers = new Set()
    for (const wake of wakers) wake()
  }
}
