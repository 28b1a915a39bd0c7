import { RecentlyUsed } from '../../packages/kernel/recently-used.ts'

/** Streams of which it is known where they are: some 3 MB. */
const streamsMax = 20_000

/**
 * Where this process itself has left its streams. A stream only grows, so it is there or beyond: whether it
 * is beyond, the unique key of stream and revision tells.
 */
export class KnownRevisions {
  readonly #revisions = new RecentlyUsed<number>(streamsMax)

  /** Whether it surely has reached the revision, as every stream has reached what is before its first. */
  reached(stream: string, revision: number): boolean {
    return revision < 0 || (this.#revisions.get(stream) ?? -1) >= revision
  }

  note(stream: string, revision: number): void {
    this.#revisions.set(stream, revision)
  }
}
