import { hashBytes } from '../../infra/transparency/hashing.ts'
import { tileWidth } from '../../infra/transparency/tiles.ts'
import type { PublishedBundle } from '../../infra/transparency/published-log.ts'

const nothing: Bundle = { commitments: Buffer.alloc(0) }

type Bundle = Pick<PublishedBundle, 'commitments' | 'positions'>

/** The published commitments around one leaf, read along with the log: three bundles are in memory. */
export class PublishedLeaves {
  readonly #bundles: AsyncIterator<PublishedBundle>
  /** Those before the current one, itself, and the next. */
  #around: readonly Bundle[] = [nothing, nothing, nothing]
  #current: number | undefined
  #ahead: PublishedBundle | undefined

  constructor(bundles: AsyncIterable<PublishedBundle>) {
    this.#bundles = bundles[Symbol.asyncIterator]()
  }

  /** Goes on to the bundle of a leaf; leaves come in their order. */
  async reach(leaf: number): Promise<void> {
    const index = Math.floor(leaf / tileWidth)
    if (this.#current === undefined)
      this.#around = [nothing, await this.#read(index), await this.#read(index + 1)]
    for (this.#current ??= index; this.#current < index; this.#current++) {
      const [, current, next] = this.#around
      this.#around = [current!, next!, await this.#read(this.#current + 2)]
    }
  }

  /** `undefined` when it was not published. */
  at(leaf: number): Buffer | undefined {
    const start = (leaf % tileWidth) * hashBytes
    const found = this.#around[1]!.commitments.subarray(start, start + hashBytes)
    return found.length === hashBytes ? found : undefined
  }

  /** Where the event of this leaf is kept to stand in the log; `undefined` where that is not kept. */
  positionOf(leaf: number): number | undefined {
    return this.#around[1]!.positions?.[leaf % tileWidth]
  }

  /** The leaf with this commitment, if it is not far away. */
  nearby(commitment: Buffer): number | undefined {
    for (const [place, bundle] of this.#around.entries()) {
      const start = bundle.commitments.indexOf(commitment)
      if (start >= 0 && start % hashBytes === 0)
        return (this.#current! + place - 1) * tileWidth + start / hashBytes
    }
    return undefined
  }

  /** A bundle that is not there is empty. */
  async #read(index: number): Promise<Bundle> {
    while ((this.#ahead?.index ?? -1) < index) {
      const { value, done } = await this.#bundles.next()
      if (done) return nothing
      this.#ahead = value
    }
    return this.#ahead!.index === index ? this.#ahead! : nothing
  }
}
