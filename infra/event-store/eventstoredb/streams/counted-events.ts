import { LRUCache } from 'lru-cache'

/** A bit for each of so many consecutive revisions of a stream, and how many such blocks are kept. */
const revisionsPerBlock = 1_024
const blocksMax = 50_000

/**
 * Which events of streams were counted. Others may have written millions of events into one stream, and each
 * reader passes all of them, so a bit has to do for each.
 */
export class CountedEvents {
  readonly #blocks = new LRUCache<string, Uint8Array>({ max: blocksMax })

  /** False when it was counted before. */
  add(stream: string, revision: number): boolean {
    const place = revision % revisionsPerBlock
    const block = this.#block(`${(revision - place) / revisionsPerBlock} ${stream}`)
    const [index, bit] = [place >>> 3, 1 << (place & 7)]
    const isNew = (block[index]! & bit) === 0
    block[index]! |= bit
    return isNew
  }

  #block(name: string): Uint8Array {
    const known = this.#blocks.get(name)
    if (known) return known
    const block = new Uint8Array(revisionsPerBlock / 8)
    this.#blocks.set(name, block)
    return block
  }
}
