import { hash } from 'node:crypto'

const wordsPerId = 4
const uuidLength = 36
const idsAtFirst = 64
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * Ids of which a log has millions, each with a number in the order of arrival: some thirty bytes each outside
 * of V8's heap, where a text in a Set takes over a hundred in it.
 */
export class IdTable {
  #size = 0
  /** Four words of each id: those of a UUID itself, or of the digest of another text. */
  #words = new Uint32Array(wordsPerId * idsAtFirst)
  /** Numbers of ids, plus one, where their first word leads. */
  #slots = new Uint32Array(2 * idsAtFirst)
  readonly #wanted = new Uint32Array(wordsPerId)

  get size(): number {
    return this.#size
  }

  has(id: string): boolean {
    return this.numberOf(id) !== undefined
  }

  numberOf(id: string): number | undefined {
    this.#want(id)
    const number = this.#slots[this.#slotOfWanted()]!
    return number === 0 ? undefined : number - 1
  }

  /** The id's number; a new one if it is new. */
  add(id: string): number {
    this.#want(id)
    let slot = this.#slotOfWanted()
    const known = this.#slots[slot]!
    if (known > 0) return known - 1
    if (2 * (this.#size + 1) > this.#slots.length) {
      this.#grow()
      slot = this.#slotOfWanted()
    }
    this.#words.set(this.#wanted, wordsPerId * this.#size)
    this.#slots[slot] = ++this.#size
    return this.#size - 1
  }

  #want(id: string): void {
    const isUuid = id.length === uuidLength && uuidPattern.test(id)
    const hex = isUuid ? id.replaceAll('-', '') : hash('sha256', id)
    for (let word = 0; word < wordsPerId; word++)
      this.#wanted[word] = parseInt(hex.slice(8 * word, 8 * word + 8), 16)
  }

  /** Where the wanted id is, or the free slot in which it would be. */
  #slotOfWanted(): number {
    const mask = this.#slots.length - 1
    for (let slot = mixed(this.#wanted) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]!
      if (number === 0 || this.#isWanted(number - 1)) return slot
    }
  }

  #isWanted(number: number): boolean {
    const at = wordsPerId * number
    for (let word = 0; word < wordsPerId; word++)
      if (this.#words[at + word] !== this.#wanted[word]) return false
    return true
  }

  #grow(): void {
    const words = new Uint32Array(2 * this.#words.length)
    words.set(this.#words)
    this.#words = words
    this.#slots = new Uint32Array(2 * this.#slots.length)
    const mask = this.#slots.length - 1
    for (let number = 0; number < this.#size; number++) {
      let slot = mixed(words.subarray(wordsPerId * number, wordsPerId * (number + 1))) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = number + 1
    }
  }
}

/** UUIDs of version 7 begin with the time: their ends differ. */
function mixed(words: Uint32Array): number {
  return Math.imul(words[3]! ^ words[0]!, 0x9e3779b1) ^ words[2]! ^ words[1]!
}
