import { LRUCache } from 'lru-cache'

/** Some 3 MB for those that are known, and as much for those that are shared. */
const streamsMax = 20_000

/**
 * Where this process itself has left its streams. A stream only grows, so it is there or beyond: whether it
 * is beyond, the unique key of stream and revision tells.
 */
export class RevisionCache {
  readonly #revisions = new LRUCache<string, number>({ max: streamsMax })
  /** Others write to them as well: a race that is lost fails a whole batch, which costs more than looking. */
  readonly #shared = new LRUCache<string, true>({ max: streamsMax })

  /** Whether it surely has reached the revision, as every stream has reached what is before its first. */
  reached(stream: string, revision: number): boolean {
    return revision < 0 || (!this.#shared.get(stream) && (this.#revisions.get(stream) ?? -1) >= revision)
  }

  /** Somebody else has written to it, so it is looked up from now on. */
  share(stream: string): void {
    this.#shared.set(stream, true)
  }

  note(stream: string, revision: number): void {
    this.#revisions.set(stream, revision)
  }
}
