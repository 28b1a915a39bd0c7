interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Items enqueued within one tick, or while statements are in flight, go with the next statement. */
export class Batcher<Item, Answer> {
  readonly #carryOut: (items: readonly Item[]) => Promise<readonly Answer[]>
  readonly #itemsPerStatement: number
  readonly #statementsAtOnce: number
  #waiting: Waiting<Item, Answer>[] = []
  #running = 0
  #isPlanned = false

  /** `carryOut` returns results in the order of the items. */
  constructor(
    carryOut: (items: readonly Item[]) => Promise<readonly Answer[]>,
    { itemsPerStatement = 1_000, statementsAtOnce = 2 } = {},
  ) {
    this.#carryOut = carryOut
    this.#itemsPerStatement = itemsPerStatement
    this.#statementsAtOnce = statementsAtOnce
  }

  /** Rejects when the statement carrying the item fails. */
  enqueue(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#plan()
    })
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      while (this.#waiting.length > 0 && this.#running < this.#statementsAtOnce) {
        void this.#send(this.#waiting.splice(0, this.#itemsPerStatement))
      }
    })
  }

  async #send(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    this.#running++
    try {
      const answers = await this.#carryOut(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => resolve(answers[index]!))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#running--
    this.#plan()
  }
}
