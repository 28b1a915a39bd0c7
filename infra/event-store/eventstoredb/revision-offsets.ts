import { LRUCache } from 'lru-cache'
import { noStream } from '../../../packages/kernel/ports.ts'

const streamsMax = 100_000

/** A place in a stream, in both numberings: up to here, all but so many of its events are ours. */
export interface StreamPlace {
  /** Revision of our last event up to here; -1 before the first. */
  readonly ours: number
  /** The server's revision of the last event up to here, whoever wrote it. */
  readonly server: number
}

/**
 * The server numbers all events of a stream, we number ours. As long as nobody else writes into our streams
 * both numbers are the same. Only the newest known place of each stream is kept: offsets never shrink, so it
 * is a lower bound for all that follows.
 */
export class RevisionOffsets {
  readonly #places = new LRUCache<string, StreamPlace>({ max: streamsMax })

  note(stream: string, place: StreamPlace): void {
    const known = this.#places.get(stream)
    const isNewer =
      !known || place.ours > known.ours || (place.ours === known.ours && place.server > known.server)
    if (isNewer) this.#places.set(stream, place)
  }

  /** True when this process has seen our event of this revision. */
  knows(stream: string, revision: number): boolean {
    return revision === noStream || (this.#places.get(stream)?.ours ?? noStream) >= revision
  }

  /** Where our event of this revision stands, with what others have written behind it; if that is known. */
  placeOf(stream: string, revision: number): StreamPlace | undefined {
    const known = this.#places.get(stream)
    if (known?.ours === revision) return known
    return revision === noStream ? { ours: noStream, server: noStream } : undefined
  }

  /**
   * The server's revision behind which the next one of ours stands or is to be written; where that is not
   * known, a lower one.
   */
  onServer(stream: string, revision: number): number {
    const known = this.#places.get(stream)
    return known && revision >= known.ours ? revision + known.server - known.ours : revision
  }
}
