import { RecentlyUsed } from '../../../packages/kernel/execution/recently-used.ts'

/** Some 3 MB for known streams, and as much for shared ones. */
const streamsMax = 20_000

/**
 * Where this process last left its streams. A stream only grows, so it is at that revision or beyond; the
 * unique key on stream and revision tells which.
 */
export class RevisionCache {
  readonly #revisions = new RecentlyUsed<number>(streamsMax)
  /**
   * Streams that others write to as well: a lost race fails a whole batch, which costs more than a look-up.
   */
  readonly #shared = new RecentlyUsed<true>(streamsMax)

  /**
   * Whether it has certainly reached the revision; every stream has reached the one before its first event.
   */
  reached(stream: string, revision: number): boolean {
    return revision < 0 || (!this.#shared.get(stream) && (this.#revisions.get(stream) ?? -1) >= revision)
  }

  /** Another process has written to it, so it is looked up from now on. */
  share(stream: string): void {
    this.#shared.set(stream, true)
  }

  note(stream: string, revision: number): void {
    this.#revisions.set(stream, revision)
  }
}
