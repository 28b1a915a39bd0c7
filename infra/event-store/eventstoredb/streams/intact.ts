import { LRUCache } from 'lru-cache'
import { categoryOf } from '../../../../packages/kernel/decider.ts'
import { DamagedStreamError } from '../../../../packages/kernel/ports.ts'
import { hiddenBy } from './metadata.ts'

const streamsMax = 100_000

export interface IntactStreamsOptions {
  /** The newest metadata of a stream; undefined when it has none. */
  readonly metadataOf: (stream: string) => Promise<Uint8Array | undefined>
  /** Categories whose streams are so short-lived that the answers to appends are check enough. */
  readonly shortLived: readonly string[]
}

/**
 * A deleted stream looks as if it had never existed, and a truncated one as if it began later. So each
 * process checks the metadata of long-lived streams once, and again whenever one of them looks new.
 */
export class IntactStreams {
  readonly #options: IntactStreamsOptions
  readonly #known = new LRUCache<string, true>({ max: streamsMax })
  readonly #looking = new Map<string, Promise<void>>()
  /** Looks that begin when the one before them has ended. */
  readonly #next = new Map<string, Promise<void>>()

  constructor(options: IntactStreamsOptions) {
    this.#options = options
  }

  /** True when no check is needed. */
  has(stream: string): boolean {
    return this.#isShortLived(stream) || this.#known.get(stream) === true
  }

  /** Throws DamagedStreamError for a stream of which something is hidden. */
  async require(stream: string): Promise<void> {
    if (!this.has(stream)) await (this.#looking.get(stream) ?? this.#look(stream))
  }

  /** Looks anew: a stream that was deleted meanwhile looks as if it had never existed. */
  async requireStill(stream: string): Promise<void> {
    if (!this.#isShortLived(stream)) await this.requireVisible(stream)
  }

  /** The same, however short-lived it is. */
  async requireVisible(stream: string): Promise<void> {
    this.#known.delete(stream)
    const looking = this.#looking.get(stream)
    if (!looking) return this.#look(stream)
    // That one may have begun before the stream was deleted; whoever comes meanwhile shares the next.
    let next = this.#next.get(stream)
    if (!next) {
      next = looking.then(nothing, nothing).then(() => this.#look(stream))
      this.#next.set(stream, next)
    }
    await next
  }

  #isShortLived(stream: string): boolean {
    return this.#options.shortLived.includes(categoryOf(stream))
  }

  #look(stream: string): Promise<void> {
    this.#next.delete(stream)
    const looking = this.#find(stream).finally(() => this.#looking.delete(stream))
    this.#looking.set(stream, looking)
    return looking
  }

  async #find(stream: string): Promise<void> {
    const metadata = await this.#options.metadataOf(stream)
    const problem = metadata && hiddenBy(metadata)
    if (problem !== undefined) throw new DamagedStreamError({ stream, problem })
    this.#known.set(stream, true)
  }
}

const nothing = () => undefined
