/** Whoever ends what was begun, in the opposite order: a test, or a run outside of one. */
export interface Ending {
  teardown(end: () => unknown): void
}

export class Ends implements Ending {
  readonly #ends: (() => unknown)[] = []

  teardown(end: () => unknown): void {
    this.#ends.push(end)
  }

  async run(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end()
  }
}
