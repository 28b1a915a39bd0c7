/**
 * Mailboxes by the name of their stream: what was used last, but never without those that are in use, which
 * no cache of a package promises. Two generations: using one costs two look-ups, and nothing is moved in a
 * list. When the young generation has half of what may be kept, it becomes the old one, and the one before is
 * forgotten.
 */
export class RecentlyUsed<Value> {
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()
  readonly #youngMax: number
  readonly #mustStay: (value: Value) => boolean

  /** At most `max` are kept, but for those that must stay. */
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

  #age(): void {
    const gone = this.#old
    this.#old = this.#young
    this.#young = new Map()
    for (const [name, value] of gone)
      if (this.#mustStay(value) && !this.#old.has(name)) this.#young.set(name, value)
  }
}
