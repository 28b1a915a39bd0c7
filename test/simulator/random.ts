/** Numbers that look random and follow from a seed alone (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** At least 0 and less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 up to, and without, the limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('there is nothing to pick from')
    return item
  }
}

/**
 * The numbers of one step of a run. Each step has its own, so that leaving out some steps of a history
 * changes no choice of the others: that is what makes a history that fails shorter.
 */
export function randomOf(seed: number, step: number): Random {
  const random = new Random(Math.imul(seed + 0x9e3779b9, 0x85ebca6b) ^ Math.imul(step + 1, 0xc2b2ae35))
  random.next()
  return random
}
