import { categoryOf } from '../../../packages/kernel/decider.ts'
import type { Irregularity, LogFilter, StoredEvent } from '../../../packages/kernel/ports.ts'
import type { SeenLog } from '../seen-log.ts'
import type { Window } from '../window.ts'
import type { History } from './history.ts'
import { LogSearch } from './log-search.ts'
import type { Reader } from './reader.ts'
import { startOf, type LogPage } from './requests.ts'
import type { RevisionOffsets } from './streams/revision-offsets.ts'
import { SearchedLog, type Newest } from './searched-log.ts'
import { irregularityOf } from './streams/metadata.ts'
import type { StreamNames } from './streams/names.ts'
import type { Calls } from './calls.ts'
import type { ServerEvent } from './messages/read.ts'

/** Usually the first one is the event that is wanted. */
const pageForOne = 2
/** Of what others have written into our streams behind our newest event. */
const headPageMax = 1_000
/** Bytes of others in the log for which a reader says where it may stop. */
const manyOfOthers = 256 * 1024

type Events = readonly StoredEvent[]

export interface LogReaderOptions {
  readonly calls: Pick<Calls, 'beginRead' | 'subscribe'>
  readonly names: StreamNames
  readonly history: Pick<History, 'commitBefore'>
  readonly reader: Pick<Reader, 'stored' | 'requireSameLog'>
  readonly offsets: RevisionOffsets
  readonly seen: SeenLog
}

/** The log of our events, which the server keeps among those of others. */
export class LogReader {
  readonly #options: LogReaderOptions
  readonly #search: LogSearch
  readonly #searched: SearchedLog
  #furthest = 0

  constructor(options: LogReaderOptions) {
    this.#options = options
    const search = new LogSearch(options.calls, () => options.seen.doubt())
    const filter = options.names.filter({})
    this.#search = search
    this.#searched = new SearchedLog({
      doubts: () => options.seen.doubts,
      end: () => search.end(),
      at: (commit) => search.at(commit),
      hasMore: (commit) => this.#hasMore(commit),
      newest: () => this.#newest(),
      start: () => this.#start(),
      scan: (after, { onEvent, onSearched }) =>
        search.scan({ after, filter, onSearched }, (event) => {
          const newest = this.#ownAt(event)
          if (newest) onEvent(newest)
        }),
    })
  }

  /** Somebody has come so far: a search need not begin before. */
  followedTo(position: number): void {
    this.#furthest = Math.max(this.#furthest, position)
  }

  async window(after: number, limit: number, filter: LogFilter): Promise<Window> {
    const { reader, seen } = this.#options
    this.followedTo(after)
    for (;;) {
      await reader.requireSameLog()
      const { doubts } = seen
      const window = await this.#window(after, limit, filter)
      // What another server has in its place must not be taken for what follows.
      if (seen.doubts !== doubts) continue
      const last = window.events.at(-1)
      if (last) seen.note(last)
      return window
    }
  }

  async #window(after: number, limit: number, filter: LogFilter): Promise<Window> {
    const newest = await this.#searched.head()
    const head = newest.position
    if (after >= head) return { events: [], through: after, head }
    const events = await this.#upTo(newest, { after, limit, filter })
    const last = events.at(-1)?.position ?? after
    const through = events.length < limit ? Math.max(head, last) : last
    return { events, through, head: Math.max(head, through) }
  }

  /** Fewer than the limit only at the end of the log. */
  async readAll(after: number, limit: number, filter: LogFilter = {}): Promise<Events> {
    if (limit <= 0) return []
    const newest = await this.#searched.head()
    return after >= newest.position ? [] : this.#upTo(newest, { after, limit, filter })
  }

  /** A read may only begin at an event: at this one, or where a copied one is to be found behind. */
  async readAt(position: number): Promise<StoredEvent | undefined> {
    const { history, names, reader } = this.#options
    const from = history.commitBefore(position)
    let found: StoredEvent | undefined
    const take = (event: ServerEvent) => {
      const stored = reader.stored(event)
      if (!stored || stored.position < position) return undefined
      found = stored
      return 'enough' as const
    }
    const first = await this.#search.page(
      { from: startOf(from), filter: names.filter({}), count: pageForOne },
      take,
    )
    if (first === 'full' || first === 'silent')
      await this.#search.forward({ after: from, filter: names.filter({}) }, headPageMax, take)
    return found?.position === position ? found : undefined
  }

  /** Position of our newest event, whatever others have written since. */
  async head(): Promise<number> {
    return (await this.#searched.head()).position
  }

  /** Those of our streams that have metadata, over the server's whole log. */
  async oddities(): Promise<readonly Irregularity[]> {
    const { names } = this.#options
    const newest = new Map<string, Uint8Array>()
    await this.#search.scan({ after: 0, filter: names.metadataFilter }, ({ stream: onServer, data }) => {
      const stream = names.oursByMetadata(onServer)
      if (stream !== undefined) newest.set(stream, data)
    })
    return [...newest].flatMap(([stream, metadata]) => irregularityOf(stream, metadata) ?? [])
  }

  /** Learns from the server's whole log where others have written into our streams. */
  async learnOffsets(): Promise<void> {
    const { names, offsets, reader } = this.#options
    const { since } = offsets
    const foreign = new Map<string, number>()
    await this.#search.scan({ after: 0, filter: names.filter({}) }, (event) => {
      const stream = names.ours(event.stream)
      // That which deletes a stream has the greatest possible revision.
      if (stream === undefined || !Number.isSafeInteger(event.revision)) return
      const count = (foreign.get(stream) ?? 0) + (reader.stored(event) ? 0 : 1)
      if (count === 0) return
      foreign.set(stream, count)
      offsets.learn(stream, { ours: event.revision - count, server: event.revision }, since)
    })
  }

  /** Events up to our newest one: behind it others may have written very much. */
  async #upTo(newest: Newest, { after, limit, filter }: { after: number; limit: number; filter: LogFilter }) {
    const { names, history, reader } = this.#options
    const from = this.#searched.startBehind(after, history.commitBefore(after))
    const found: StoredEvent[] = []
    const wanted = this.#withNewest(newest, filter)
    await this.#search.forward({ after: from, filter: names.filter(wanted) }, limit + 1, (event) => {
      const stored = reader.stored(event)
      if (!stored || stored.position <= after) return undefined
      if (isWanted(filter, stored)) found.push(stored)
      return found.length >= limit || stored.position >= newest.position ? 'enough' : undefined
    })
    return found
  }

  /** A reader of other categories would never notice that it has reached the newest event. */
  #withNewest({ category }: Newest, filter: LogFilter): LogFilter {
    const { categories } = filter
    const isFar = this.#searched.ofOthers > manyOfOthers
    if (!isFar || !categories || category === undefined || categories.includes(category)) return filter
    return { categories: [...categories, category] }
  }

  async #newest(): Promise<Newest | undefined> {
    const filter = this.#options.names.filter({})
    let from: LogPage['from'] = 'end'
    for (let count = 1; ; count = Math.min(2 * count, headPageMax)) {
      let found: Newest | undefined
      const end = await this.#search.page({ from, filter, count, backwards: true }, (event) => {
        from = event.commit
        found = this.#ownAt(event)
        return found && 'enough'
      })
      if (found) return found
      if (end === 'silent') return undefined
      if (end === 'end of log') return { position: 0, commit: 0, id: '', category: undefined }
    }
  }

  async #hasMore(commit: number): Promise<boolean | undefined> {
    const filter = this.#options.names.filter({})
    let isMore = false
    const end = await this.#search.page({ from: startOf(commit), filter, count: pageForOne }, (event) => {
      isMore = event.commit > commit
      return isMore ? 'enough' : undefined
    })
    return isMore || (end === 'silent' ? undefined : false)
  }

  /** Whoever follows the log has come to an event of ours. */
  async #start(): Promise<Newest | undefined> {
    const position = this.#furthest
    const event = position > 0 && (await this.#search.at(this.#options.history.commitBefore(position)))
    const newest = event ? this.#ownAt(event) : undefined
    return newest?.position === position ? newest : undefined
  }

  #ownAt(event: ServerEvent): Newest | undefined {
    const stored = this.#options.reader.stored(event)
    if (!stored) return undefined
    const { commit, id, stream } = event
    const category = categoryOf(this.#options.names.ours(stream)!)
    return { position: stored.position, commit, id, category }
  }
}

function isWanted({ categories }: LogFilter, { stream }: StoredEvent): boolean {
  return !categories || categories.includes(categoryOf(stream))
}
