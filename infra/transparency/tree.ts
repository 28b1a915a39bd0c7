import { rootOver } from './hashing.ts'
import { tileWidth, type TileName } from './tiles.ts'

export interface Tile extends TileName {
  readonly level: number
  readonly hashes: Buffer
}

/**
 * An append-only tree. It keeps its right edge: on each level the hashes that do not fill a tile yet. So it
 * takes leaves in constant time and at most 255 hashes a level, whatever its size.
 */
export class GrowingTree {
  readonly #edge: Buffer[][]
  #size: number
  #full: Tile[] = []

  /** Resumes a tree from its partial tiles, from level 0 upwards; a missing one is an empty list. */
  constructor(size = 0, edge: readonly (readonly Buffer[])[] = []) {
    this.#size = size
    this.#edge = edge.map((hashes) => [...hashes])
    for (let level = 0, hashes = size; hashes > 0; level++, hashes = Math.floor(hashes / tileWidth)) {
      const found = this.#edge[level]?.length ?? 0
      if (found !== hashes % tileWidth)
        throw new Error(`level ${level} of a tree of ${size} leaves ends with ${found} hashes`)
      this.#edge[level] ??= []
    }
  }

  get size(): number {
    return this.#size
  }

  /** The same tree, which grows by itself from here on. Full tiles that nobody has taken are not copied. */
  copy(): GrowingTree {
    return new GrowingTree(this.#size, this.#edge)
  }

  /** Appends the hash of the next leaf. */
  add(leaf: Buffer): void {
    this.#size++
    this.#push(0, leaf)
  }

  root(): Buffer {
    let rest: Buffer | undefined
    for (const hashes of this.#edge) {
      if (hashes.length > 0) rest = rootOver(rest ? [...hashes, rest] : hashes)
    }
    return rest ?? rootOver([])
  }

  /** Tiles completed since the last call, and the partial ones as they are now. */
  takeTiles(): readonly Tile[] {
    return [...this.takeFullTiles(), ...this.partialTiles()]
  }

  /** Tiles that were filled since they were last taken. */
  takeFullTiles(): readonly Tile[] {
    if (this.#full.length === 0) return this.#full
    const full = this.#full
    this.#full = []
    return full
  }

  /** Tiles that are not full yet, as they are now. */
  partialTiles(): readonly Tile[] {
    return this.#edge.flatMap((hashes, level) => {
      const index = Math.floor(this.#size / tileWidth ** (level + 1))
      return hashes.length === 0
        ? []
        : [{ level, index, width: hashes.length, hashes: Buffer.concat(hashes) }]
    })
  }

  #push(level: number, hash: Buffer): void {
    const hashes = (this.#edge[level] ??= [])
    hashes.push(hash)
    if (hashes.length < tileWidth) return
    const index = Math.floor(this.#size / tileWidth ** (level + 1)) - 1
    this.#full.push({ level, index, width: tileWidth, hashes: Buffer.concat(hashes) })
    this.#edge[level] = []
    this.#push(level + 1, rootOver(hashes))
  }
}
