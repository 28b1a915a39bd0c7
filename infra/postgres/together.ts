interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

const statementsAtOnce = 2
const itemsPerStatement = 1_000

/** What is asked for within one tick, or while statements are on their way, goes with the next statement. */
export class Together<Item, Answer> {
  /** Answers in the order of the items. */
  readonly #carryOut: (items: readonly Item[]) => Promise<readonly Answer[]>
  #waiting: Waiting<Item, Answer>[] = []
  #running = 0

  constructor(carryOut: (items: readonly Item[]) => Promise<readonly Answer[]>) {
    this.#carryOut = carryOut
  }

  /** Rejects when the statement that took the item along fails. */
  ask(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#running < statementsAtOnce) setImmediate(() => void this.#next())
    })
  }

  async #next(): Promise<void> {
    while (this.#waiting.length > 0 && this.#running < statementsAtOnce) {
      const batch = this.#waiting.splice(0, itemsPerStatement)
      this.#running++
      try {
        const answers = await this.#carryOut(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, index) => resolve(answers[index]!))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
      this.#running--
    }
  }
}
