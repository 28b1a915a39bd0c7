import { DamagedStreamError, type StoredEvent } from '../../../../packages/kernel/ports.ts'
import { gapProblem } from './passed-over.ts'
import type { ServerEvent } from '../messages/read.ts'
import type { RevisionOffsets, StreamPlace } from './revision-offsets.ts'

/** The most keeps a page within its time and memory; few streams have more. */
const eventsPerPage = { least: 100, most: 5_000 }

/** So often the server may change during a read. */
const attemptsMax = 5

type Events = readonly StoredEvent[]

interface Part {
  readonly from: number
  readonly count: number
}

export interface OwnStreamsOptions {
  /** Reads by the server's revisions; undefined when there is no such stream. */
  readonly read: (stream: string, part: Part) => Promise<readonly ServerEvent[] | undefined>
  /** Undefined for an event that this service has not written. */
  readonly stored: (event: ServerEvent) => StoredEvent | undefined
  readonly offsets: RevisionOffsets
  /** Throws DamagedStreamError for a stream of which its metadata hide something. */
  readonly requireVisible: (stream: string) => Promise<void>
  /** Throws when the server has lost events that this process has seen. */
  readonly requireSameLog: () => Promise<void>
}

/** Streams by our own revisions: what others have written into them is passed over. */
export class OwnStreams {
  readonly #options: OwnStreamsOptions

  constructor(options: OwnStreamsOptions) {
    this.#options = options
  }

  /** Undefined when there is no such stream. Throws DamagedStreamError when an event is missing. */
  async read(stream: string, from: number, limit: number): Promise<Events | undefined> {
    const { offsets, requireSameLog } = this.#options
    for (let attempt = 1; ; attempt++) {
      await requireSameLog()
      const { since } = offsets
      // Pages of two servers do not make one stream: neither is it read, nor is it damaged.
      const isSame = () => offsets.since === since || attempt >= attemptsMax
      try {
        const found = await this.#read(stream, from, limit)
        if (isSame()) return found
      } catch (error) {
        if (isSame() || !(error instanceof DamagedStreamError)) throw error
      }
    }
  }

  async #read(stream: string, from: number, limit: number): Promise<Events | undefined> {
    const { stored, offsets } = this.#options
    const { since } = offsets
    const walk = new Walk(stream, { from, limit, place: offsets.placeOf(stream, from - 1) })
    let next = offsets.onServer(stream, from - 1) + 1
    let pages = 0
    for await (const page of this.#pages(stream, next, limit)) {
      if (!page && pages === 0 && !offsets.isBegun(stream)) return undefined
      if (!page) throw new DamagedStreamError({ stream, problem: 'is gone, although it has had events' })
      // The server knows the stream, so it has had events.
      if (page.length === 0 && next === 0)
        throw new DamagedStreamError({ stream, problem: 'shows none of its events' })
      pages++
      for (const event of page) {
        requireNext(stream, event.revision, next++)
        if (!walk.isDone) walk.take(event.revision, stored(event))
      }
      if (walk.isDone) break
    }
    // One that was cut between two pages only looks shorter.
    if (pages > 1) await this.#options.requireVisible(stream)
    if (walk.place) offsets.note(stream, walk.place, since)
    return walk.found
  }

  /** Our event of this revision, whatever of the stream is missing besides: it stands there or further on. */
  async find(stream: string, revision: number): Promise<StoredEvent | undefined> {
    const { stored } = this.#options
    for await (const page of this.#pages(stream, Math.max(0, revision), 1)) {
      for (const event of page ?? []) {
        const own = stored(event)
        if (own && own.revision >= revision) return own.revision === revision ? own : undefined
      }
    }
    return undefined
  }

  async *#pages(stream: string, start: number, first: number) {
    for (let [from, count] = [start, Math.min(first, eventsPerPage.most)]; ; count = more(count)) {
      const page = await this.#options.read(stream, { from, count })
      yield page
      if (!page || page.length < count) return
      from = page.at(-1)!.revision + 1
    }
  }
}

function more(count: number): number {
  return Math.min(Math.max(2 * count, eventsPerPage.least), eventsPerPage.most)
}

interface WalkOptions {
  readonly from: number
  readonly limit: number
  /** Where the walk starts; undefined when our revision there is not known yet. */
  readonly place: StreamPlace | undefined
}

/** Goes along a stream and counts ours. */
class Walk {
  readonly found: StoredEvent[] = []
  place: StreamPlace | undefined
  readonly #stream: string
  readonly #options: WalkOptions

  constructor(stream: string, options: WalkOptions) {
    this.#stream = stream
    this.#options = options
    this.place = options.place
  }

  get isDone(): boolean {
    return this.found.length >= this.#options.limit
  }

  take(server: number, own: StoredEvent | undefined): void {
    const { place } = this
    if (!own) {
      if (place) this.place = { ours: place.ours, server }
      return
    }
    const { from } = this.#options
    // What others have written before may have moved ours towards the end, never towards the start.
    requireNext(this.#stream, own.revision, place ? place.ours + 1 : Math.min(own.revision, from))
    this.place = { ours: own.revision, server }
    if (own.revision >= from) this.found.push(own)
  }
}

function requireNext(stream: string, revision: number, expected: number): void {
  if (revision !== expected) throw new DamagedStreamError({ stream, problem: gapProblem(revision, expected) })
}
