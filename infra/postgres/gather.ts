/** Collects what is asked for while a query is on its way, and asks for all of it with the next one. */
export class Gather<Row> {
  readonly #query: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>
  #waiting = new Map<string, ((answer: Promise<Row | undefined>) => void)[]>()
  #running = 0

  constructor(query: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>) {
    this.#query = query
  }

  get(key: string): Promise<Row | undefined> {
    return new Promise((resolve) => {
      const others = this.#waiting.get(key)
      if (others) others.push(resolve)
      else this.#waiting.set(key, [resolve])
      if (this.#running < queriesAtOnce) setImmediate(() => void this.#ask())
    })
  }

  async #ask(): Promise<void> {
    if (this.#waiting.size === 0 || this.#running >= queriesAtOnce) return
    const asked = this.#waiting
    this.#waiting = new Map()
    this.#running++
    const rows = this.#query([...asked.keys()])
    for (const [key, resolves] of asked)
      for (const resolve of resolves) resolve(rows.then((found) => found.get(key)))
    await rows.catch(() => undefined)
    this.#running--
    await this.#ask()
  }
}

const queriesAtOnce = 2
