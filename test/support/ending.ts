/** Whoever ends what was begun, in the opposite order: a test, or a run outside of one. */
export interface Ending {
  teardown(end: () => unknown): void
}

export class Ends implements Ending {
  readonly #ends: (() => unknown)[] = []

  teardown(end: () => unknown): void {
    this.#ends.push(end)
  }

  /** Whoever fails to end does not keep the others: the first failure is thrown when all are through. */
  async run(): Promise<void> {
    const failures: unknown[] = []
    for (const end of this.#ends.splice(0).reverse()) {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
