import { ErrorType } from '@eventstore/db-client'
import {
  DamagedStreamError,
  type Irregularity,
  type LogFilter,
  type StoredEvent,
} from '../../../packages/kernel/ports.ts'
import type { Window } from '../window.ts'
import type { Calls } from './calls.ts'
import {
  isForbidden,
  isOfType,
  isUnauthenticated,
  notLetIn,
  rightMissing,
  retryWhileAway,
  within,
} from './errors.ts'
import { safePosition, storedEvent } from './events.ts'
import type { History } from './history.ts'
import type { OwnStreams } from './own-streams.ts'
import type { PassedOver } from './passed-over.ts'
import type { SeenEvent, SeenLog } from '../seen-log.ts'
import type { ReadAnswer, ServerEvent } from './read-messages.ts'
import type { RevisionOffsets } from './revision-offsets.ts'
import { readLog, readNewest, readStream, type LogPage } from './requests.ts'
import { SearchedLog, startOf, type Searched } from './searched-log.ts'
import { hiddenBy, irregularityOf } from './stream-metadata.ts'
import type { NameFilter, StreamNames } from './stream-names.ts'

/** The client lets a read wait for ever. */
const timeoutsMs = { $all: 30_000, streams: 10_000, 'metadata of streams': 10_000 }
const pingTimeoutMs = 2_000
const eventsPerPage = 5_000
/** Usually the first one is the event that is wanted. */
const pageForOne = 2
/** Of what others have written behind our newest event. */
const headPageMax = 1_000

const vanished = new Error('a stream is gone of which events have come')

type Events = readonly StoredEvent[]
type ReadReq = Parameters<Calls['read']>[0]

export interface ReaderOptions {
  readonly calls: Pick<Calls, 'read'>
  readonly names: StreamNames
  readonly history: Pick<History, 'positionOf' | 'commitBefore'>
  readonly passedOver: PassedOver
  readonly own: OwnStreams
  readonly offsets: RevisionOffsets
  readonly seen: SeenLog
}

/** Reads that end. Each is retried while a cluster changes its leader. */
export class Reader {
  readonly #options: ReaderOptions
  readonly #searched: SearchedLog

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#searched = new SearchedLog({
      doubts: () => options.seen.doubts,
      end: () => this.#end(),
      hasMore: (commit) => this.#hasMore(commit),
      newest: () => this.#newest(),
    })
  }

  /** Throws DamagedStreamError when part of it is missing. */
  async readStream(stream: string, from: number, limit = Infinity): Promise<Events> {
    if (limit <= 0 || stream === '') return []
    const found = await this.#options.own.read(stream, Math.max(0, from), limit)
    if (found === undefined && from > 0)
      throw new DamagedStreamError({ stream, problem: `is gone, although it had ${from} events` })
    return found ?? []
  }

  /** As the server has and numbers them; undefined when there is no such stream. */
  async ownedBy(
    stream: string,
    { from, count }: { readonly from: number; readonly count: number },
  ): Promise<readonly ServerEvent[] | undefined> {
    const request = readStream({ stream: this.#options.names.onServer(stream), from, count })
    try {
      return await this.#read(request, 'streams')
    } catch (error) {
      if (error === vanished)
        throw new DamagedStreamError({ stream, problem: 'was deleted while it was read' })
      if (!isOfType(error, ErrorType.STREAM_DELETED)) throw error
      throw new DamagedStreamError({ stream, problem: 'was deleted for ever' })
    }
  }

  /** The newest metadata of a stream; undefined when it has none. */
  async metadataOf(stream: string): Promise<Uint8Array | undefined> {
    const request = readNewest(this.#options.names.metadataOnServer(stream))
    try {
      return (await this.#read(request, 'metadata of streams'))?.[0]?.data
    } catch (error) {
      // The metadata of a tombstoned stream is gone with it.
      if (isOfType(error, ErrorType.STREAM_DELETED))
        throw new DamagedStreamError({ stream, problem: 'was deleted for ever' })
      throw error
    }
  }

  async window(after: number, limit: number, filter: LogFilter): Promise<Window> {
    await this.requireSameLog()
    const head = await this.head()
    if (after >= head) return { events: [], through: after, head }
    const events = await this.readAll(after, limit, filter)
    const newest = events.at(-1)
    if (newest) this.#options.seen.note(newest)
    const last = newest?.position ?? after
    const through = events.length < limit ? Math.max(head, last) : last
    return { events, through, head: Math.max(head, through) }
  }

  /** Fewer than the limit only at the end of the log. */
  async readAll(after: number, limit: number, filter: LogFilter = {}): Promise<Events> {
    if (limit <= 0) return []
    const names = this.#options.names.filter(filter)
    const found: StoredEvent[] = []
    let from = this.startBehind(after)
    for (;;) {
      // A read includes the event at its starting position.
      const count = limit - found.length + 1
      const page = await this.#page({ from: from > 0 ? from : 'start', filter: names, count })
      for (const event of page) {
        if (event.commit <= from && from > 0) continue
        from = event.commit
        const stored = this.stored(event)
        if (stored && stored.position > after) found.push(stored)
      }
      if (page.length < count || found.length >= limit) return found.slice(0, limit)
    }
  }

  /** A read may only begin at an event: at this one, or where a copied one is to be found behind. */
  async readAt(position: number): Promise<StoredEvent | undefined> {
    const filter = this.#options.names.filter({})
    let from = this.#options.history.commitBefore(position)
    for (let through = -1; ; through = from) {
      const page = await this.#page({ from: from > 0 ? from : 'start', filter, count: pageForOne })
      for (const event of page.filter(({ commit }) => commit > through)) {
        from = event.commit
        const stored = this.stored(event)
        if (stored && stored.position >= position) return stored.position === position ? stored : undefined
      }
      if (page.length < pageForOne) return undefined
    }
  }

  /** Our newest event, whatever others have written since. */
  head(): Promise<number> {
    return this.#searched.head()
  }

  /** Where what is behind this position is found: a place that a read or a subscription may begin after. */
  startBehind(position: number): number {
    return this.#searched.startBehind(position, this.#options.history.commitBefore(position))
  }

  async #newest(): Promise<Searched> {
    const filter = this.#options.names.filter({})
    let from: LogPage['from'] = 'end'
    for (let count = 1; ; count = Math.min(2 * count, headPageMax)) {
      const page = await this.#page({ from, filter, count, backwards: true })
      for (const event of page) {
        const stored = this.stored(event)
        if (stored) return { position: stored.position, commit: event.commit }
      }
      if (page.length < count) return { position: 0, commit: 0 }
      from = page.at(-1)!.commit
    }
  }

  async #end(): Promise<number | undefined> {
    const [newest] = await this.#page({ from: 'end', count: 1, backwards: true })
    return newest && safePosition(newest.commit)
  }

  async #hasMore(commit: number): Promise<boolean> {
    const filter = this.#options.names.filter({})
    const page = await this.#page({ from: startOf(commit), filter, count: pageForOne })
    return page.some((event) => event.commit > commit)
  }

  /** Those of our streams that have metadata, over the server's whole log. */
  async oddities(): Promise<readonly Irregularity[]> {
    const { names } = this.#options
    const newest = new Map<string, Uint8Array>()
    for await (const { stream: onServer, data } of this.#all(names.metadataFilter)) {
      const stream = names.oursByMetadata(onServer)
      if (stream !== undefined) newest.set(stream, data)
    }
    return [...newest].flatMap(([stream, metadata]) => irregularityOf(stream, metadata) ?? [])
  }

  /** Learns from the server's whole log where others have written into our streams. */
  async learnOffsets(): Promise<void> {
    const { names, offsets } = this.#options
    const { since } = offsets
    const foreign = new Map<string, number>()
    for await (const event of this.#all(names.filter({}))) {
      const stream = names.ours(event.stream)
      // That which deletes a stream has the greatest possible revision.
      if (stream === undefined || !Number.isSafeInteger(event.revision)) continue
      const count = (foreign.get(stream) ?? 0) + (this.stored(event) ? 0 : 1)
      if (count === 0) continue
      foreign.set(stream, count)
      offsets.learn(stream, { ours: event.revision - count, server: event.revision }, since)
    }
  }

  /** Throws when the server has lost events that this process has seen. */
  requireSameLog(): Promise<void> {
    return this.#options.seen.requireIfInDoubt((newest) => this.#has(newest))
  }

  /** False when the log has lost this event; one that was hidden or deleted is still in it. */
  async #has({ stream, revision, position, id }: SeenEvent): Promise<boolean> {
    try {
      // First, because a scavenge removes a stream that was deleted for ever from the log as well.
      const event = await this.#options.own.find(stream, revision)
      if ((await this.#newest()).position < position) return false
      if (event) return event.id === id
      const metadata = await this.metadataOf(stream)
      return metadata !== undefined && hiddenBy(metadata) !== undefined
    } catch (error) {
      // It cannot be read any more, for another reason.
      if (error instanceof DamagedStreamError) return true
      throw error
    }
  }

  async ping(): Promise<void> {
    const request = readLog({ from: 'end', count: 1, backwards: true })
    await within(pingTimeoutMs, this.#once(request, pingTimeoutMs)).catch(explained('$all'))
  }

  /** One of our events; undefined, and counted, for what others have written into our streams. */
  stored(event: ServerEvent): StoredEvent | undefined {
    const stored = storedEvent(event, this.#options)
    if (!stored) this.#options.passedOver.add(this.#options.names.ours(event.stream) ?? event.stream, event)
    return stored
  }

  async *#all(filter: NameFilter): AsyncGenerator<ServerEvent, void> {
    for (let from: LogPage['from'] = 'start'; ;) {
      const page = await this.#page({ from, filter, count: eventsPerPage })
      for (const event of page) if (event.commit !== from) yield event
      if (page.length < eventsPerPage) return
      from = page.at(-1)!.commit
    }
  }

  async #page(page: LogPage): Promise<readonly ServerEvent[]> {
    return (await this.#read(readLog(page), '$all')) ?? []
  }

  #read(request: ReadReq, what: keyof typeof timeoutsMs): Promise<readonly ServerEvent[] | undefined> {
    const timeoutMs = timeoutsMs[what]
    return retryWhileAway(() => within(timeoutMs, this.#once(request, timeoutMs))).catch(explained(what))
  }

  async #once(request: ReadReq, timeoutMs: number): Promise<readonly ServerEvent[] | undefined> {
    const events: ServerEvent[] = []
    let isFound = true
    await this.#options.calls.read(request, timeoutMs, (answer: ReadAnswer) => {
      if (typeof answer === 'object') events.push(answer)
      else if (answer === 'not found') isFound = false
    })
    // The server reads a long stream piece by piece.
    if (!isFound && events.length > 0) throw vanished
    return isFound ? events : undefined
  }
}

/** Of an error that says that this must not be read. */
function explained(what: string) {
  return (error: unknown): never => {
    if (isUnauthenticated(error)) throw notLetIn(error)
    if (isForbidden(error)) throw rightMissing(`${what} may not be read by`, error)
    throw error
  }
}
