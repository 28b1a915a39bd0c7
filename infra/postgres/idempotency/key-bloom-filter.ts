/** Four bits for each of four million keys; one unknown key in six hundred is then taken for a known one. */
const words = 2 ** 20
const bitMask = words * 32 - 1
const bitsPerKey = 4

/**
 * A Bloom filter of the rows in a table that was empty when the filter was created: it never misses a row
 * that exists, and takes more missing ones for existing as it fills up.
 */
export class KeyBloomFilter {
  #bits: Uint32Array | undefined

  add(key: string): void {
    this.#bits ??= new Uint32Array(words)
    for (let [bit, step, left] = placesOf(key); left > 0; left--, bit = (bit + step) & bitMask) {
      this.#bits[bit >>> 5]! |= 1 << (bit & 31)
    }
  }

  mayHold(key: string): boolean {
    if (!this.#bits) return false
    for (let [bit, step, left] = placesOf(key); left > 0; left--, bit = (bit + step) & bitMask) {
      if ((this.#bits[bit >>> 5]! & (1 << (bit & 31))) === 0) return false
    }
    return true
  }
}

/** Double hashing: the key's first bit, the step to the next, and how many (two FNV-1a hashes). */
function placesOf(key: string): [bit: number, step: number, count: number] {
  let one = 0x811c9dc5
  let other = 0x9e3779b9
  for (let index = 0; index < key.length; index++) {
    const code = key.charCodeAt(index)
    one = Math.imul(one ^ code, 0x01000193)
    other = Math.imul(other ^ code, 0x85ebca6b) ^ (other >>> 15)
  }
  return [(one ^ (one >>> 15)) & bitMask, (other | 1) & bitMask, bitsPerKey]
}
