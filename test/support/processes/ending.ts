/** Runs clean-up in reverse order: of a test, or of a run outside of one. */
export interface Ending {
  teardown(end: () => unknown): void
}

export class Ends implements Ending {
  readonly #ends: (() => unknown)[] = []

  teardown(end: () => unknown): void {
    this.#ends.push(end)
  }

  /** A failing clean-up does not stop the others: the first failure is thrown at the end. */
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
