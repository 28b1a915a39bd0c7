import { hashBytes } from './hashing.ts'

/** Paths and contents of a tree's tiles, as C2SP's tlog-tiles defines them. */

/** Hashes in a full tile: a tile is a subtree of height eight. */
export const tileWidth = 256

export interface TileName {
  /** 0: hashes of leaves. `entries` has one level only. */
  readonly level: number | 'entries'
  readonly index: number
  /** 256, or less for the last tile of its level. */
  readonly width: number
}

/** `tile/1/x001/234.p/5` */
export function tilePath({ level, index, width }: TileName): string {
  const digits = String(index).padStart(Math.ceil(String(index).length / 3) * 3, '0')
  const elements = digits.match(/\d{3}/g)!
  const path = elements.map((element, at) => (at < elements.length - 1 ? `x${element}` : element)).join('/')
  return `tile/${level}/${path}${width === tileWidth ? '' : `.p/${width}`}`
}

const pathShape = /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** The tile at a path; `undefined` for a path that is not in canonical form. */
export function parseTilePath(path: string): TileName | undefined {
  const [, level, elements = '', partial] = pathShape.exec(path) ?? []
  if (level === undefined) return undefined
  const name: TileName = {
    level: level === 'entries' ? level : Number(level),
    index: Number(elements.replace(/[x/]/g, '')),
    width: partial === undefined ? tileWidth : Number(partial),
  }
  const isKnown = Number.isSafeInteger(name.index) && (level === 'entries' || Number(level) < 64)
  return isKnown && tilePath(name) === path ? name : undefined
}

/** Number of hashes on a level of a tree of this size: each stands for a whole tile of the level below. */
export function hashesOnLevel(level: number, size: number): number {
  return Math.floor(size / tileWidth ** level)
}

/** A level's tiles in a tree of this size, the partial one last. */
export function tilesOnLevel(level: number, size: number): number {
  return Math.ceil(hashesOnLevel(level, size) / tileWidth)
}

/** The widest tile with this level and index in a tree of this size; 0 when it has none. */
export function widthOf({ level, index }: Pick<TileName, 'level' | 'index'>, size: number): number {
  const hashes = hashesOnLevel(level === 'entries' ? 0 : level, size)
  return Math.max(0, Math.min(tileWidth, hashes - index * tileWidth))
}

export function hashesOf(tile: Buffer): readonly Buffer[] {
  if (tile.length === 0 || tile.length % hashBytes !== 0)
    throw new Error(`a tile of ${tile.length} bytes is not made of hashes`)
  return Array.from({ length: tile.length / hashBytes }, (_, at) =>
    tile.subarray(at * hashBytes, (at + 1) * hashBytes),
  )
}

const entryBytesMax = 0xffff

export function entryBundle(entries: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    entries.flatMap((entry) => {
      if (entry.length > entryBytesMax) throw new Error(`an entry of ${entry.length} bytes is too long`)
      return [Buffer.of(entry.length >> 8, entry.length & 0xff), entry]
    }),
  )
}

export function entriesOf(bundle: Buffer): readonly Buffer[] {
  const entries: Buffer[] = []
  for (let at = 0; at < bundle.length;) {
    const end = at + 2 + (at + 2 <= bundle.length ? bundle.readUInt16BE(at) : Infinity)
    if (end > bundle.length) throw new Error('an entry bundle ends within an entry')
    entries.push(bundle.subarray(at + 2, end))
    at = end
  }
  return entries
}
