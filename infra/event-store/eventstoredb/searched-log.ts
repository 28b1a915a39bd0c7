import { StoreAwayError } from '../../../packages/kernel/ports.ts'
import { within } from './errors.ts'
import type { ServerEvent } from './messages/read.ts'

/** Our newest event. */
export interface Newest {
  /** 0 when there is none of ours. */
  readonly position: number
  /** Its place in the server's log. */
  readonly commit: number
  readonly id: string
  /** Undefined when there is none of ours. */
  readonly category: string | undefined
}

type LogMark = Pick<ServerEvent, 'commit' | 'id'>

interface SearchedRange {
  readonly newest: Newest
  /** Up to this event of the server, whoever wrote it, there is nothing newer of ours. */
  readonly through: LogMark
  readonly doubts: number
}

/** A search from the front that may have been broken off. */
interface Search {
  newest: Newest
  /** Up to here. */
  searched: number
  readonly doubts: number
}

export interface SearchedLogOptions {
  /** Changes when the next answer may come from another server. */
  readonly doubts: () => number
  /** The newest event of the server, whoever wrote it. */
  readonly end: () => Promise<LogMark | undefined>
  /** The event at this place of the server's log. */
  readonly at: (commit: number) => Promise<LogMark | undefined>
  /** True when something in our streams stands behind this place; undefined when others stand in between. */
  readonly hasMore: (commit: number) => Promise<boolean | undefined>
  /** Searches from the end; undefined when it would have to pass very much of others. */
  readonly newest: () => Promise<Newest | undefined>
  /** An event of ours that is known from elsewhere. */
  readonly start: () => Promise<Newest | undefined>
  /** Searches from the front, however long that takes. */
  readonly scan: (after: number, found: ScanFound) => Promise<unknown>
}

export interface ScanFound {
  readonly onEvent: (newest: Newest) => void
  readonly onSearched: (commit: number) => void
}

/** So long callers wait for a search from the front, which goes on without them. */
const patienceMs = 10_000
const none: Newest = { position: 0, commit: 0, id: '', category: undefined }

/**
 * On a busy server a quiet installation must not search what others write again and again. As long as events
 * of ours keep coming, the newest is near the end and found at once; when none comes, the place up to which
 * there was none is remembered.
 */
export class SearchedLog {
  readonly #options: SearchedLogOptions
  #known: SearchedRange | undefined
  /** What was known before the newest event had come: those who follow the log still go on from there. */
  #before: SearchedRange | undefined
  #isQuiet = true
  #search: Search | undefined
  #searching: Promise<void> | undefined

  constructor(options: SearchedLogOptions) {
    this.#options = options
  }

  async head(): Promise<Newest> {
    await this.#requireSame()
    const doubts = this.#options.doubts()
    const known = this.#valid
    const end = this.#isQuiet ? await this.#options.end() : undefined
    const newest = (await this.#newest(known, end)) ?? (await this.#newestFromFront(doubts))
    this.#isQuiet = known === undefined || newest.position === known.newest.position
    const places: readonly LogMark[] = [newest, ...(end ? [end] : []), ...(known ? [known.through] : [])]
    const through = places.reduce((one, other) => (other.commit > one.commit ? other : one))
    if (known && known.newest.position !== newest.position) this.#before = known
    this.#known = { newest, through, doubts }
    return newest
  }

  /** Where a read for what is behind this position begins, instead of at this place. */
  startBehind(position: number, from: number): number {
    const doubts = this.#options.doubts()
    const searched = [this.#known, this.#before].filter(
      (known) => known?.doubts === doubts && position >= known.newest.position,
    )
    return Math.max(from, ...searched.map((known) => known!.through.commit))
  }

  /** How much there is of others behind our newest event, as far as it was searched. */
  get ofOthers(): number {
    const known = this.#valid
    return known ? known.through.commit - known.newest.commit : 0
  }

  get #valid(): SearchedRange | undefined {
    return this.#known?.doubts === this.#options.doubts() ? this.#known : undefined
  }

  /** What was searched was so on this server too, when the event up to which it was searched is there. */
  async #requireSame(): Promise<void> {
    const known = this.#known
    const doubts = this.#options.doubts()
    if (!known || known.doubts === doubts || known.through.commit === 0) return
    const event = await this.#options.at(known.through.commit)
    if (this.#known === known) this.#known = event?.id === known.through.id ? { ...known, doubts } : undefined
  }

  async #newest(known: SearchedRange | undefined, end: LogMark | undefined): Promise<Newest | undefined> {
    const { hasMore, newest } = this.#options
    if (!known || !end) return newest()
    const isMore = await hasMore(known.through.commit)
    if (isMore === false) return known.newest
    return isMore ? newest() : undefined
  }

  async #newestFromFront(doubts: number): Promise<Newest> {
    this.#searching ??= this.#searchOn(doubts).finally(() => (this.#searching = undefined))
    const searching = this.#searching
    // It goes on when nobody waits for it any more.
    searching.catch(() => undefined)
    const tired = new Error('the events of others behind our newest one are still being searched')
    await within(patienceMs, searching, tired).catch((error: unknown) => {
      throw error === tired ? new StoreAwayError(tired) : error
    })
    return this.#search!.newest
  }

  async #searchOn(doubts: number): Promise<void> {
    const search = await this.#searchFrom(doubts)
    this.#search = search
    await this.#options.scan(search.searched, {
      onEvent: (newest) => Object.assign(search, { newest, searched: newest.commit }),
      onSearched: (commit) => (search.searched = commit),
    })
  }

  async #searchFrom(doubts: number): Promise<Search> {
    const known = this.#valid
    const begun = this.#search?.doubts === doubts ? this.#search : undefined
    if (begun && begun.searched >= (known?.through.commit ?? 0)) return begun
    if (known) return { newest: known.newest, searched: known.through.commit, doubts }
    const newest = (await this.#options.start()) ?? none
    return { newest, searched: newest.commit, doubts }
  }
}
