/** What one owner, a merchant in one environment, has of the places. */
export interface Share {
  taken: number
}

/** An owner may take another place while it has less than an eighth as many as are free. */
const part = 8

/**
 * A limited number of places that owners share. Nobody knows beforehand who keeps them for long, so the cap
 * moves, as in the buffers of switches (Choudhury and Hahne, "Dynamic queue length thresholds"): an owner
 * alone gets a ninth of all, twenty get 3.6 % each, and there is some left for whoever comes next.
 */
export class Places {
  readonly #most: number
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  get taken(): number {
    return this.#taken
  }

  get free(): number {
    return this.#most - this.#taken
  }

  /** This part is left to those who are known to give their places back soon. */
  get reserve(): number {
    return Math.floor(this.#most / 8)
  }

  /** How many more an owner may take now; 0 or more. */
  room({ taken }: Share, reserve = 0): number {
    return Math.max(0, Math.ceil((this.free - reserve - part * taken) / (part + 1)))
  }

  take(share: Share): void {
    share.taken++
    this.#taken++
  }

  giveBack(share: Share): void {
    share.taken--
    this.#taken--
  }
}
