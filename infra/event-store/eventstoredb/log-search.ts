import type { Calls, OpenCall } from './calls.ts'
import { explained, isInvalidPosition, retryWhileAway, timedOut, within } from './errors.ts'
import type { ReadAnswer, ServerEvent } from './messages/read.ts'
import { followLog, readLog, searchWindow, startOf, type LogPage } from './requests.ts'
import { matches, type NameFilter } from './streams/names.ts'

/** The client lets a read wait for ever. */
const timeoutMs = 30_000
/** A filtered read says nothing while the server searches what others have written. */
const silentMs = 2_000
/** Anything else says something sooner. */
const stalledMs = 10_000

export type Take = (event: ServerEvent) => 'enough' | void

/** How a page came to its end; a silent one was broken off. */
export type PageEnd = 'enough' | 'full' | 'end of log' | 'silent'
export type SearchEnd = 'enough' | 'end of log'

export interface Search {
  /** A place in the server's log, 0 for its start; what stands there itself is passed over. */
  readonly after: number
  readonly filter: NameFilter
}

export interface Scan extends Search {
  /** Called with each place up to which nothing else has matched. */
  readonly onSearched?: (commit: number) => void
}

/** A scan, and how far it is: a subscription may begin there. */
interface Progress extends Scan {
  searched: number
}

/**
 * The server's whole log, by filters. A filtered read does not say how far it has searched, and would begin
 * anew whenever that takes too long; a subscription does, so that the search goes on from there.
 */
export class LogSearch {
  readonly #calls: Pick<Calls, 'beginRead' | 'subscribe'>
  readonly #onElsewhere: () => void

  /** Calls back when the next answer may come from another server. */
  constructor(calls: Pick<Calls, 'beginRead' | 'subscribe'>, onElsewhere: () => void) {
    this.#calls = calls
    this.#onElsewhere = onElsewhere
  }

  /** Up to so many events, in either direction; some come again when the server goes away meanwhile. */
  async page(page: LogPage, take: Take): Promise<PageEnd> {
    return this.#patiently(() => this.#page(page, take))
  }

  /** What follows a place, read so many at a time, until that is enough. */
  async forward({ after, filter }: Search, count: number, take: Take): Promise<SearchEnd> {
    let last = after
    const onEvent = (event: ServerEvent) => {
      if (event.commit <= last && last > 0) return undefined
      last = event.commit
      return take(event)
    }
    for (;;) {
      const end = await this.page({ from: startOf(last), filter, count }, onEvent)
      if (end === 'silent') return this.scan({ after: last, filter }, take)
      if (end !== 'full') return end
    }
  }

  /** The same, where there may be very much of others in between. */
  async scan(scan: Scan, take: Take): Promise<SearchEnd> {
    const progress: Progress = { ...scan, searched: scan.after }
    if (await this.#begin(progress, take)) return 'enough'
    for (;;) {
      const before = progress.searched
      try {
        return await this.#patiently(() => this.#follow(progress, take))
      } catch (error) {
        if (progress.searched === before) throw error
      }
    }
  }

  /** The event at this place; undefined when there is none. */
  async at(commit: number): Promise<ServerEvent | undefined> {
    let found: ServerEvent | undefined
    try {
      await this.page({ from: startOf(commit), count: 1 }, (event) => void (found = event))
    } catch (error) {
      if (!isInvalidPosition(error)) throw error
    }
    return found?.commit === commit ? found : undefined
  }

  /** The newest event of the server, whoever wrote it. */
  async end(): Promise<ServerEvent | undefined> {
    let found: ServerEvent | undefined
    await this.page({ from: 'end', count: 1, backwards: true }, (event) => void (found = event))
    return found
  }

  #patiently<Result>(read: () => Promise<Result>): Promise<Result> {
    return retryWhileAway(read, this.#onElsewhere).catch(explained('$all'))
  }

  async #page(page: LogPage, take: Take): Promise<PageEnd> {
    let end: PageEnd = 'end of log'
    let taken = 0
    const limits = { silentMs: page.filter ? silentMs : stalledMs, timeoutMs }
    const isSilent = await this.#until(readLog(page), limits, (answer) => {
      if (typeof answer !== 'object') return false
      if (take(answer) === 'enough') end = 'enough'
      // A server that has found enough goes on until it finds one more.
      else if (++taken >= page.count) end = 'full'
      return end !== 'end of log'
    })
    if (!isSilent) return end
    if (!page.filter) throw timedOut(stalledMs)
    return 'silent'
  }

  /** Goes through the first window itself, so that a subscription may begin there: see `followLog`. */
  async #begin(progress: Progress, take: Take): Promise<boolean> {
    const { after, filter } = progress
    if (after === 0) return false
    const end = await this.page({ from: after, count: searchWindow }, (event) => {
      if (event.commit <= progress.searched || !matches(filter, event.stream)) return undefined
      progress.searched = event.commit
      return take(event)
    })
    return end === 'enough'
  }

  async #follow(progress: Progress, take: Take): Promise<SearchEnd> {
    let end: SearchEnd | undefined
    const request = followLog(startOf(progress.searched), progress.filter)
    const isSilent = await this.#until(request, { silentMs: stalledMs, timeoutMs: Infinity }, (answer) => {
      if (answer === 'caught up') end = 'end of log'
      else if (typeof answer === 'object' && (answer.commit > progress.searched || progress.searched === 0)) {
        progress.searched = answer.commit
        if (take(answer) === 'enough') end = 'enough'
      } else if (typeof answer === 'number' && answer > progress.searched) {
        progress.searched = answer
        progress.onSearched?.(answer)
      }
      return end !== undefined
    })
    if (end) return end
    throw isSilent ? timedOut(stalledMs) : new Error('EventStoreDB has ended the call')
  }

  /** Until the server ends the call or the answers suffice; true when it was silent for too long. */
  async #until(
    request: Parameters<Calls['subscribe']>[0],
    limits: { readonly silentMs: number; readonly timeoutMs: number },
    suffices: (answer: ReadAnswer) => boolean,
  ): Promise<boolean> {
    let call: OpenCall | undefined
    let [isOver, isSilent] = [false, false]
    const end = () => {
      isOver = true
      call?.cancel()
    }
    const timer = setTimeout(() => {
      isSilent = true
      end()
    }, limits.silentMs)
    const onAnswer = (answer: ReadAnswer) => {
      timer.refresh()
      if (!isOver && suffices(answer)) end()
    }
    try {
      const isEndless = limits.timeoutMs === Infinity
      const begun = isEndless
        ? this.#calls.subscribe(request, onAnswer)
        : this.#calls.beginRead(request, limits.timeoutMs, onAnswer)
      call = await within(timeoutMs, begun)
      if (isOver) call.cancel()
      await call.ended
    } finally {
      clearTimeout(timer)
    }
    return isSilent
  }
}
