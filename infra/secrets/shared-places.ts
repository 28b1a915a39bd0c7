/**
 * Places in a queue that many share. Whoever already has as many as are left gets no more: one alone has half
 * of them, two a third each, and somebody else always finds one.
 */
export class SharedPlaces {
  readonly #max: number
  readonly #takenBy = new Map<string, number>()
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  /** For somebody who goes by all of these names. */
  hasRoom(names: readonly string[]): boolean {
    const left = this.#max - this.#taken
    return left > 0 && names.every((name) => this.#of(name) < left)
  }

  /** Returns how to give it back, once. */
  take(names: readonly string[]): () => void {
    this.#count(names, 1)
    let isBack = false
    return () => {
      if (!isBack) this.#count(names, -1)
      isBack = true
    }
  }

  #of(name: string): number {
    return this.#takenBy.get(name) ?? 0
  }

  #count(names: readonly string[], by: 1 | -1): void {
    this.#taken += by
    for (const name of names) {
      const taken = this.#of(name) + by
      if (taken === 0) this.#takenBy.delete(name)
      else this.#takenBy.set(name, taken)
    }
  }
}
