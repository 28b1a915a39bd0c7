import { setTimeout as pause } from 'node:timers/promises'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'
import { Bell } from '../bell.ts'
import type { RecentEvents } from '../recent-events.ts'
import type { Calls, OpenCall } from './calls.ts'
import { isCutOff } from './errors.ts'
import type { ReadAnswer, ServerEvent } from './read-messages.ts'
import type { Reader } from './reader.ts'
import { followLog } from './requests.ts'
import type { SeenLog } from '../seen-log.ts'
import type { StreamNames } from './stream-names.ts'

/** A filter drops what others write, so progress is asked for when nothing arrives. */
const quietMs = 5_000
/** So soon after an event, the subscription is about to bring the next ones by itself. */
const flowingMs = 20
const retryMs = { first: 50, most: 2_000 }

export interface LiveTailOptions {
  readonly calls: Pick<Calls, 'subscribe'>
  readonly names: StreamNames
  readonly reader: Pick<Reader, 'head' | 'startBehind' | 'stored' | 'requireSameLog'>
  readonly seen: SeenLog
  readonly recent: RecentEvents
}

/**
 * One subscription fills this process's memory and wakes all who wait. The server stops sending when this
 * process is too slow, and at each change of leader: the gap is then read at once as pages, and the next
 * subscription begins after it.
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
    const { seen, reader } = this.#options
    for (let delayMs = retryMs.first; !signal.aborted;) {
      try {
        await reader.requireSameLog()
        await this.#catchUp()
        const { error, hasCome } = await this.#follow()
        const wasCutOff = isCutOff(error)
        if (wasCutOff) this.timesCutOff++
        else seen.doubt()
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
    const { recent, reader } = this.#options
    if (recent.through === undefined) recent.beginAt(await reader.head())
    for (let hasMore = true; hasMore;) {
      hasMore = await recent.extend()
      this.bell.advance(recent.through ?? 0)
    }
  }

  /** Resolves when the subscription is over, with the server's error if there is one. */
  async #follow(): Promise<{ readonly error?: unknown; readonly hasCome: boolean }> {
    const { calls, names, reader, recent } = this.#options
    const { through } = recent
    // The set of wanted categories has grown.
    if (through === undefined) return { hasCome: false }
    let base = through
    let [hasCome, isQuiet] = [false, true]
    const onAnswer = (answer: ReadAnswer) => {
      if (typeof answer !== 'object') return
      hasCome = true
      isQuiet = false
      base = this.#take(answer, base)
    }
    const request = followLog(reader.startBehind(through), names.filter(recent.filter))
    const call = await calls.subscribe(request, onAnswer)
    this.#call = call
    if (this.#stopping.signal.aborted || recent.through === undefined) call.cancel()
    const looking = setInterval(() => {
      if (isQuiet) void this.#lookAtEnd()
      isQuiet = true
    }, quietMs)
    const error = await call.ended.then(
      () => undefined,
      (error: unknown) => error,
    )
    clearInterval(looking)
    this.#call = undefined
    return { error, hasCome }
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
