/** A number for each of the last ids, as JSON. */
export interface KeptRecent {
  /** Base64 of their bytes, oldest first. */
  readonly ids: string
  readonly values: readonly number[]
}

/** As wide as the values need: outcomes take a byte, amounts are safe integers. */
type Values = Uint8Array | Float64Array
type NewValues = new (length: number) => Values

export const rememberedMax = 1_024
const placesAtFirst = 16
/** Few growth steps, because freed buffers leave fragmented memory. */
const growth = 8
const wordsPerId = 4
const bytesPerWord = 4

/**
 * The latest values by id: at least a thousand of them. They are outside V8's heap, because thousands of
 * books have a thousand each, and the heap may grow to twice what it holds before it is collected.
 */
export class Recent {
  readonly #newValues: NewValues
  /** Slots of ids and values; when all are taken, the next one replaces the oldest. */
  #places = 0
  #ids = new Uint32Array(0)
  #values: Values
  #remembered = 0

  constructor(newValues: NewValues) {
    this.#newValues = newValues
    this.#values = new newValues(0)
  }

  static from({ ids, values }: KeptRecent, newValues: NewValues): Recent {
    const bytes = Buffer.from(ids, 'base64')
    const recent = new Recent(newValues)
    for (const [index, value] of values.entries()) {
      const word = (number: number) => bytes.readUInt32BE((index * wordsPerId + number) * bytesPerWord)
      recent.#add([word(0), word(1), word(2), word(3)], value)
    }
    return recent
  }

  /** Returns the value that was evicted, if any. Throws for an id that is not a UUID. */
  remember(id: string, value: number): number | undefined {
    return this.#add(wordsOf(id), value)
  }

  /** `undefined` for unknown ids; throws for an id that is not a UUID. */
  recall(id: string): number | undefined {
    const ids = this.#ids
    const [first, second, third, fourth] = wordsOf(id)
    for (let place = 0, at = 0; place < this.#count; place++, at += wordsPerId) {
      if (ids[at + 3] !== fourth || ids[at + 2] !== third) continue
      if (ids[at + 1] === second && ids[at] === first) return this.#values[place]
    }
    return undefined
  }

  toJSON(): KeptRecent {
    const oldest = this.#remembered - this.#count
    const places = Array.from({ length: this.#count }, (_, index) => (oldest + index) % rememberedMax)
    const bytes = Buffer.alloc(this.#count * wordsPerId * bytesPerWord)
    let at = 0
    for (const place of places) {
      for (let word = 0; word < wordsPerId; word++) {
        at = bytes.writeUInt32BE(this.#ids[place * wordsPerId + word]!, at)
      }
    }
    return { ids: bytes.toString('base64'), values: places.map((place) => this.#values[place]!) }
  }

  get #count(): number {
    return Math.min(this.#remembered, rememberedMax)
  }

  #add(id: Words, value: number): number | undefined {
    const forgotten =
      this.#remembered < rememberedMax ? undefined : this.#values[this.#remembered % rememberedMax]
    const place = this.#remembered++ % rememberedMax
    if (place === this.#places) this.#widen()
    this.#ids.set(id, place * wordsPerId)
    this.#values[place] = value
    return forgotten
  }

  #widen(): void {
    this.#places = Math.max(placesAtFirst, growth * this.#places)
    const [ids, values] = [this.#ids, this.#values]
    this.#ids = new Uint32Array(this.#places * wordsPerId)
    this.#ids.set(ids)
    this.#values = new this.#newValues(this.#places)
    this.#values.set(values)
  }
}

type Words = readonly [first: number, second: number, third: number, fourth: number]

function wordsOf(id: string): Words {
  const [, first, second, third, fourth, fifth, last] = uuid.exec(id) ?? []
  if (last === undefined) throw new Error(`"${id}" is no UUID`)
  const number = (digits: string) => Number.parseInt(digits, 16)
  return [number(first!), number(`${second}${third}`), number(`${fourth}${fifth}`), number(last)]
}

const uuid = /^([\da-f]{8})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})([\da-f]{8})$/
