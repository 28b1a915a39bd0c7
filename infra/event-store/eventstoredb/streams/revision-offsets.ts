import { LRUCache } from 'lru-cache'
import { noStream } from '../../../../packages/kernel/ports.ts'

const streamsMax = 100_000

/** A place in a stream, in both numberings: up to here, all but so many of its events are ours. */
export interface StreamPlace {
  /** Revision of our last event up to here; -1 before the first. */
  readonly ours: number
  /** The server's revision of the last event up to here, whoever wrote it. */
  readonly server: number
}

/**
 * The server numbers all events of a stream, we number ours. Offsets never shrink, so the newest known place
 * of a stream is a lower bound for all that follows. Nothing is known any more once the next answer may come
 * from another copy of the log, on which others have written less.
 */
export class RevisionOffsets {
  readonly #doubts: () => number
  readonly #places = new LRUCache<string, StreamPlace>({ max: streamsMax })
  /** Of streams that will be written to without being read. */
  readonly #learnt = new Map<string, StreamPlace>()
  #knownSince = 0

  /** `doubts` changes when the next answer may come from another server. */
  constructor(doubts: () => number) {
    this.#doubts = doubts
  }

  /** To be noted with what is asked for from now on. */
  get since(): number {
    return this.#doubts()
  }

  note(stream: string, place: StreamPlace, since: number): void {
    if (since !== this.since) return
    const known = this.#placeOf(stream)
    const isNewer =
      !known || place.ours > known.ours || (place.ours === known.ours && place.server > known.server)
    if (!isNewer) return
    if (this.#learnt.has(stream)) this.#learnt.set(stream, place)
    else this.#places.set(stream, place)
  }

  /** The same, and it is kept however many other streams are noted. */
  learn(stream: string, place: StreamPlace, since: number): void {
    if (since !== this.since) return
    const known = this.#placeOf(stream) ?? place
    this.#learnt.set(stream, known)
    this.note(stream, place, since)
  }

  /** True when this process has seen an event in it, whoever wrote it. */
  isBegun(stream: string): boolean {
    return (this.#placeOf(stream)?.server ?? noStream) > noStream
  }

  /** True when this process has seen our event of this revision. */
  knows(stream: string, revision: number): boolean {
    return revision === noStream || (this.#placeOf(stream)?.ours ?? noStream) >= revision
  }

  /** Where our event of this revision stands, with what others have written behind it; if that is known. */
  placeOf(stream: string, revision: number): StreamPlace | undefined {
    const known = this.#placeOf(stream)
    if (known?.ours === revision) return known
    return revision === noStream ? { ours: noStream, server: noStream } : undefined
  }

  /**
   * The server's revision behind which the next one of ours stands or is to be written; where that is not
   * known, a lower one.
   */
  onServer(stream: string, revision: number): number {
    const known = this.#placeOf(stream)
    return known && revision >= known.ours ? revision + known.server - known.ours : revision
  }

  #placeOf(stream: string): StreamPlace | undefined {
    if (this.#knownSince !== this.since) {
      this.#places.clear()
      this.#learnt.clear()
    }
    this.#knownSince = this.since
    return this.#learnt.get(stream) ?? this.#places.get(stream)
  }
}
