import { setTimeout as pause } from 'node:timers/promises'
import type { LogFilter, StoredEvent } from '../../../packages/kernel/ports.ts'
import { Bell } from '../bell.ts'
import type { RecentEvents } from '../recent-events.ts'
import type { Calls, OpenCall } from './calls.ts'
import { isCutOff } from './errors.ts'
import type { ReadAnswer, ServerEvent } from './messages/read.ts'
import type { LogReader } from './log-reader.ts'
import type { Reader } from './reader.ts'
import { followLog } from './requests.ts'
import type { SeenLog } from '../seen-log.ts'
import type { StreamNames } from './streams/names.ts'

/** A filter drops what others write, so progress is asked for when nothing arrives. */
const quietMs = 5_000
/** So soon after an event, the subscription is about to bring the next ones by itself. */
const flowingMs = 20
const retryMs = { first: 50, most: 2_000 }

export interface LiveTailOptions {
  readonly calls: Pick<Calls, 'subscribe'>
  readonly names: StreamNames
  readonly reader: Pick<Reader, 'stored' | 'requireSameLog' | 'requireSameServer'>
  readonly log: Pick<LogReader, 'head'>
  readonly seen: SeenLog
  readonly recent: RecentEvents
}

/**
 * One subscription fills this process's memory and wakes all who wait. It begins at the end of the log, where
 * the server has nothing to search, and what came before is read as pages. The server stops sending when this
 * process is too slow, and at each change of leader: the next subscription then begins at once.
 */
export class LiveTail {
  readonly bell = new Bell(() => this.#begin())
  timesCutOff = 0
  readonly #options: LiveTailOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #call: OpenCall | undefined
  /** The newest event that this process has written. */
  #own = 0
  #lookingForOwn: Promise<void> | undefined
  /** When the subscription or a look last brought something, by `performance.now()`. */
  #heardAt = 0

  constructor(options: LiveTailOptions) {
    this.#options = options
  }

  /** Of this process's own events, its consumers learn without waiting for the subscription. */
  written(position: number): void {
    if (!this.#call) return this.bell.advance(position)
    this.#own = Math.max(this.#own, position)
    this.#lookingForOwn ??= this.#lookForOwn().finally(() => (this.#lookingForOwn = undefined))
  }

  /** A subscriber wants more categories than before. */
  restart(): void {
    this.#call?.cancel()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    this.#call?.cancel()
    await Promise.all([this.#running, this.#lookingForOwn])
  }

  #begin(): void {
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { reader } = this.#options
    for (let delayMs = retryMs.first; !signal.aborted;) {
      try {
        await reader.requireSameLog()
        await this.#catchUp()
        const { error, hasCome } = await this.#follow()
        const wasCutOff = isCutOff(error)
        if (hasCome || wasCutOff) delayMs = retryMs.first
        // Reading the gap is pause enough, however soon the server cuts off.
        if (hasCome || wasCutOff || error === undefined) continue
      } catch (error) {
        this.bell.fail(error)
      }
      await pause(delayMs, undefined, { signal }).catch(() => undefined)
      delayMs = Math.min(2 * delayMs, retryMs.most)
    }
  }

  /** Reads what is missing in memory, as of now: what comes meanwhile the subscription brings. */
  async #catchUp(): Promise<void> {
    const { recent, log } = this.#options
    if (recent.through === undefined) recent.beginAt(await log.head())
    for (let hasMore = await recent.extendAnew(); hasMore;) {
      this.bell.advance(recent.through ?? 0)
      hasMore = await recent.extend()
    }
    this.bell.advance(recent.through ?? 0)
  }

  /** Resolves when the subscription is over, with the server's error if there is one. */
  async #follow(): Promise<{ readonly error?: unknown; readonly hasCome: boolean }> {
    const { calls, names, seen, recent } = this.#options
    const live = new Live(recent.filter)
    const request = followLog('end', names.filter(live.filter))
    const call = await calls.subscribe(request, (answer) => this.#hear(live, answer))
    this.#call = call
    if (this.#stopping.signal.aborted || live.lacks(recent.filter)) call.cancel()
    const looking = setInterval(() => {
      if (live.isQuiet) void this.#lookAtEnd()
      live.isQuiet = true
    }, quietMs)
    const error = await call.ended.then(
      () => undefined,
      (error: unknown) => error,
    )
    clearInterval(looking)
    this.#call = undefined
    if (isCutOff(error)) this.timesCutOff++
    else seen.doubt()
    const failure = await live.joining
    return { error: error ?? failure, hasCome: live.hasCome }
  }

  #hear(live: Live, answer: ReadAnswer): void {
    if (answer === 'confirmed') live.joining ??= this.#join(live)
    if (typeof answer !== 'object') return
    live.hasCome = true
    live.isQuiet = false
    if (live.base === undefined) live.early = this.#announce(answer, live.early)
    else live.base = this.#take(answer, live.base)
  }

  /** Reads what may have come before the subscription began. Resolves with the error when that fails. */
  async #join(live: Live): Promise<unknown> {
    const { reader, recent } = this.#options
    try {
      await reader.requireSameServer()
      await this.#catchUp()
      live.base = Math.max(recent.through ?? 0, live.early)
      if (live.lacks(recent.filter)) this.#call?.cancel()
      return undefined
    } catch (error) {
      this.bell.fail(error)
      this.#call?.cancel()
      return error
    }
  }

  /** Too early to be kept: what stands before it is still to be read. */
  #announce(event: ServerEvent, early: number): number {
    const position = this.#options.reader.stored(event)?.position ?? 0
    this.bell.advance(position)
    return Math.max(early, position)
  }

  /** Returns the position after which the next event follows. */
  #take(event: ServerEvent, base: number): number {
    const { recent, reader, seen } = this.#options
    const stored = reader.stored(event)
    if (!stored || stored.position <= base) return base
    seen.note(stored)
    this.#heardAt = performance.now()
    const { stream, position } = stored
    const events = (): readonly StoredEvent[] => [stored]
    recent.add({ base, pieces: [{ stream, through: position, events }] })
    this.bell.advance(position)
    return position
  }

  /**
   * Others may have written before it, so it is read and not just remembered. Under load the subscription
   * brings it sooner than a read of its own would, which is then spared.
   */
  async #lookForOwn(): Promise<void> {
    const { signal } = this.#stopping
    const { recent } = this.#options
    while (this.#call && !signal.aborted && (recent.through ?? this.#own) < this.#own) {
      const waitMs = this.#heardAt + flowingMs - performance.now()
      if (waitMs > 0) await pause(waitMs, undefined, { signal }).catch(() => undefined)
      else await this.#lookAtEnd()
    }
  }

  async #lookAtEnd(): Promise<void> {
    const { recent } = this.#options
    // Ask again soon.
    await recent.extend().catch(() => undefined)
    this.#heardAt = performance.now()
    this.bell.advance(recent.through ?? 0)
  }
}

/** One subscription, and what has come of it. */
class Live {
  readonly filter: LogFilter
  hasCome = false
  isQuiet = true
  /** Behind it the next event follows; undefined until all has been read that may stand before the first. */
  base: number | undefined
  /** The newest event that has come sooner. */
  early = 0
  joining: Promise<unknown> | undefined

  constructor(filter: LogFilter) {
    this.filter = filter
  }

  /** True when more is wanted by now than it brings. */
  lacks({ categories }: LogFilter): boolean {
    return categories !== this.filter.categories
  }
}
