/**
 * Values by name, such as mailboxes by stream: the most recently used, but never without those in use, which
 * no cache package guarantees. Two generations: a use costs two look-ups and moves nothing in a list. When
 * the young one holds half of the limit it becomes the old one, and the previous old one is dropped.
 */
export class RecentlyUsed<Value> {
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()
  readonly #youngMax: number
  readonly #mustStay: (value: Value) => boolean

  /** At most `max` are kept, apart from those in use. */
  constructor(max: number, mustStay: (value: Value) => boolean = () => false) {
    this.#youngMax = Math.max(1, max >> 1)
    this.#mustStay = mustStay
  }

  get(name: string): Value | undefined {
    const young = this.#young.get(name)
    if (young !== undefined) return young
    const old = this.#old.get(name)
    if (old !== undefined) this.set(name, old)
    return old
  }

  set(name: string, value: Value): void {
    this.#young.set(name, value)
    if (this.#young.size >= this.#youngMax) this.#age()
  }

  *values(): Generator<Value, void> {
    yield* this.#young.values()
    yield* this.#old.values()
  }

  #age(): void {
    const gone = this.#old
    this.#old = this.#young
    this.#young = new Map()
    for (const [name, value] of gone)
      if (this.#mustStay(value) && !this.#old.has(name)) this.#young.set(name, value)
  }
}
