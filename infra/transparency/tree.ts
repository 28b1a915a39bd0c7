import { emptyRoot, hashBytes, leafHashInto, rootOver } from './hashing.ts'
import { tileWidth, type TileName } from './tiles.ts'

export interface Tile extends TileName {
  readonly level: number
  readonly hashes: Buffer
}

/** The hashes of a level that fill no tile yet, one behind the other. What is written stays as it is. */
interface Edge {
  readonly hashes: Buffer
  count: number
}

const tileBytes = tileWidth * hashBytes

/**
 * An append-only tree. It keeps its right edge: on each level the hashes that do not fill a tile yet. So it
 * takes leaves in constant time and at most 255 hashes a level, whatever its size.
 */
export class GrowingTree {
  readonly #edge: Edge[]
  #size: number
  #full: Tile[] = []

  /** Resumes a tree from its partial tiles, from level 0 upwards; a missing one is empty. */
  constructor(size = 0, edge: readonly Buffer[] = []) {
    this.#size = size
    this.#edge = edge.map(edgeOf)
    for (let level = 0, hashes = size; hashes > 0; level++, hashes = Math.floor(hashes / tileWidth)) {
      const { count } = this.#edgeAt(level)
      if (count !== hashes % tileWidth)
        throw new Error(`level ${level} of a tree of ${size} leaves ends with ${count} hashes`)
    }
  }

  get size(): number {
    return this.#size
  }

  /** The same tree, which grows by itself from here on. Full tiles that nobody has taken are not copied. */
  copy(): GrowingTree {
    return new GrowingTree(this.#size, this.#edge.map(joined))
  }

  /** Appends the hash of the next leaf. */
  add(leaf: Buffer): void {
    const { hashes, count } = this.#edgeAt(0)
    leaf.copy(hashes, count * hashBytes)
    this.#added()
  }

  /** Appends a leaf with this data. */
  addEntry(entry: Uint8Array): void {
    const { hashes, count } = this.#edgeAt(0)
    leafHashInto(hashes, count * hashBytes, entry)
    this.#added()
  }

  root(): Buffer {
    let rest: Buffer | undefined
    for (const edge of this.#edge) {
      if (edge.count > 0) rest = rootOver(rest ? Buffer.concat([joined(edge), rest]) : joined(edge))
    }
    return rest ?? emptyRoot
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
    return this.#edge.flatMap((edge, level) => {
      const index = Math.floor(this.#size / tileWidth ** (level + 1))
      return edge.count === 0 ? [] : [{ level, index, width: edge.count, hashes: joined(edge) }]
    })
  }

  #added(): void {
    this.#size++
    for (let level = 0; ; level++) {
      const edge = this.#edgeAt(level)
      if (++edge.count < tileWidth) return
      const { hashes } = edge
      const index = Math.floor(this.#size / tileWidth ** (level + 1)) - 1
      this.#full.push({ level, index, width: tileWidth, hashes })
      this.#edge[level] = edgeOf()
      const above = this.#edgeAt(level + 1)
      rootOver(hashes).copy(above.hashes, above.count * hashBytes)
    }
  }

  #edgeAt(level: number): Edge {
    return (this.#edge[level] ??= edgeOf())
  }
}

function edgeOf(from: Buffer = Buffer.alloc(0)): Edge {
  const hashes = Buffer.allocUnsafeSlow(tileBytes)
  return { hashes, count: from.copy(hashes) / hashBytes }
}

function joined({ hashes, count }: Edge): Buffer {
  return hashes.subarray(0, count * hashBytes)
}
