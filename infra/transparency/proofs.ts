import { emptyRoot, hashBytes, leftOf, nodeHash, rootOver } from './hashing.ts'
import { hashesOf, tileWidth, widthOf, type TileName } from './tiles.ts'

/** Returns a tile's bytes; throws when it does not exist. */
export type ReadTile = (tile: TileName & { readonly level: number }) => Promise<Buffer>

/** Leaves from the first up to but excluding the end. */
interface Range {
  readonly first: number
  readonly end: number
}

/** Makes RFC 6962, 2.1, proofs for a tree of this size from its tiles, reading each once. */
export class TileProofs {
  readonly #size: number
  readonly #read: ReadTile
  readonly #tiles = new Map<string, Promise<readonly Buffer[]>>()

  constructor(size: number, read: ReadTile) {
    this.#size = size
    this.#read = read
  }

  root(size = this.#size): Promise<Buffer> {
    return size === 0 ? Promise.resolve(emptyRoot) : this.#rootOf({ first: 0, end: size })
  }

  /** Proves that the leaf with this index is in the tree, from the leaf upwards. */
  async inclusion(index: number): Promise<readonly Buffer[]> {
    if (!(Number.isSafeInteger(index) && index >= 0 && index < this.#size))
      throw new RangeError(`a tree of ${this.#size} leaves has no leaf ${index}`)
    const path: Promise<Buffer>[] = []
    let range: Range = { first: 0, end: this.#size }
    while (range.end - range.first > 1) {
      const { left, right } = halves(range)
      const isLeft = index < left.end
      path.push(this.#rootOf(isLeft ? right : left))
      range = isLeft ? left : right
    }
    return Promise.all(path.reverse())
  }

  /** Proves that the tree of `older` leaves is a prefix of this one. */
  async consistency(older: number): Promise<readonly Buffer[]> {
    if (!(Number.isSafeInteger(older) && older >= 0 && older <= this.#size))
      throw new RangeError(`a tree of ${this.#size} leaves had never ${older}`)
    if (older === 0 || older === this.#size) return []
    const path: Promise<Buffer>[] = []
    let range: Range = { first: 0, end: this.#size }
    // Up to the older tree's end, both trees split at the same places.
    while (range.end !== older) {
      const { left, right } = halves(range)
      const isLeft = older <= left.end
      path.push(this.#rootOf(isLeft ? right : left))
      range = isLeft ? left : right
    }
    // The verifier knows the older root, but only when nothing is left of it.
    if (range.first > 0) path.push(this.#rootOf(range))
    return Promise.all(path.reverse())
  }

  async #rootOf(range: Range): Promise<Buffer> {
    const size = range.end - range.first
    const isWhole = leftOf(size * 2) === size && range.first % size === 0
    if (isWhole) return this.#subtree(range.first, size)
    const { left, right } = halves(range)
    const [leftRoot, rightRoot] = await Promise.all([this.#rootOf(left), this.#rootOf(right)])
    return nodeHash(leftRoot, rightRoot)
  }

  /** A complete subtree lies within one tile: on the highest level whose hashes do not cover more than it. */
  async #subtree(first: number, size: number): Promise<Buffer> {
    let level = 0
    while (tileWidth ** (level + 1) <= size) level++
    const hashSize = tileWidth ** level
    const place = first / hashSize
    const index = Math.floor(place / tileWidth)
    const hashes = await this.#tile(level, index)
    const start = place - index * tileWidth
    return rootOver(Buffer.concat(hashes.slice(start, start + size / hashSize)))
  }

  #tile(level: number, index: number): Promise<readonly Buffer[]> {
    const name = `${level}/${index}`
    const known = this.#tiles.get(name)
    if (known) return known
    const width = widthOf({ level, index }, this.#size)
    const tile = this.#read({ level, index, width }).then((bytes) => {
      const hashes = hashesOf(bytes)
      if (hashes.length < width) throw new Error(`tile ${name} has ${hashes.length} hashes, not ${width}`)
      return hashes
    })
    this.#tiles.set(name, tile)
    return tile
  }
}

function halves({ first, end }: Range): { readonly left: Range; readonly right: Range } {
  const middle = first + leftOf(end - first)
  return { left: { first, end: middle }, right: { first: middle, end } }
}

export interface Inclusion {
  readonly index: number
  readonly size: number
  /** The hash of the leaf. */
  readonly leaf: Buffer
  readonly proof: readonly Buffer[]
  readonly root: Buffer
}

/** Whether the proof leads from the leaf to the root (RFC 9162, 2.1.3.2). */
export function isIncluded({ index, size, leaf, proof, root }: Inclusion): boolean {
  if (!(index >= 0 && index < size && [leaf, ...proof].every(isHash))) return false
  let [at, last] = [index, size - 1]
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else hash = nodeHash(hash, sibling)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && hash.equals(root)
}

export interface Consistency {
  readonly older: { readonly size: number; readonly root: Buffer }
  readonly newer: { readonly size: number; readonly root: Buffer }
  readonly proof: readonly Buffer[]
}

/** Whether the older tree is a prefix of the newer one (RFC 9162, 2.1.4.2). */
export function isConsistent({ older, newer, proof }: Consistency): boolean {
  if (older.size > newer.size) return false
  if (older.size === 0) return proof.length === 0 && older.root.equals(emptyRoot)
  if (older.size === newer.size) return proof.length === 0 && older.root.equals(newer.root)
  const path = leftOf(older.size * 2) === older.size ? [older.root, ...proof] : [...proof]
  const start = path.shift()
  if (!start || ![start, ...path].every(isHash)) return false
  let [at, last] = [older.size - 1, newer.size - 1]
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  let [oldHash, newHash] = [start, start]
  for (const sibling of path) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      oldHash = nodeHash(sibling, oldHash)
      newHash = nodeHash(sibling, newHash)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else newHash = nodeHash(newHash, sibling)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && oldHash.equals(older.root) && newHash.equals(newer.root)
}

function isHash({ length }: Buffer): boolean {
  return length === hashBytes
}
