import { categoryOf } from '../../packages/kernel/decider.ts'
import type { LogFilter, StoredEvent } from '../../packages/kernel/ports.ts'
import type { Pages, Window } from './window.ts'

/** The newest events that are kept, and how many are read at a time. */
const keptMax = 5_000
const readMax = 2_500

/** Events that follow each other in the log and in their stream. */
export interface Piece {
  readonly stream: string
  /** Position of the last of them. */
  readonly through: number
  /** Asked only when somebody here wants them. */
  readonly events: () => readonly StoredEvent[]
}

/** A stretch of the log: of what this process wants, nothing else lies between `base` and the last piece. */
export interface Stretch {
  readonly base: number
  readonly pieces: readonly Piece[]
}

/** All wanted events behind `from` up to `through`, in the order of the log. */
interface Kept {
  readonly events: StoredEvent[]
  from: number
  through: number
}

/**
 * The end of the log in memory. All subscriptions of a process that have caught up follow the same events, so
 * each event is decoded once, and none that nobody here wants; what comes as a stretch is not read unless
 * something is missing before it. Those that are further behind read pages for themselves.
 */
export class RecentEvents {
  readonly #pages: Pages
  /** What the subscriptions of this process want; `undefined` is all. */
  #categories: readonly string[] | undefined = []
  /** From the first time that anybody reached the end of the log. */
  #kept: Kept | undefined
  #reading: Promise<void> | undefined
  /** What came while a page was read, which may have brought it or not. */
  #meanwhile: Stretch[] = []

  constructor(pages: Pages) {
    this.#pages = pages
  }

  /** What the subscriptions of this process want. */
  get filter(): LogFilter {
    return this.#categories ? { categories: this.#categories } : {}
  }

  /** Nothing is missing up to here; undefined as long as nothing is kept. */
  get through(): number | undefined {
    return this.#kept?.through
  }

  /** Whoever asks for windows with a filter says so before. True when more is wanted than before. */
  include({ categories }: LogFilter): boolean {
    const wanted = categories && this.#categories && [...new Set([...this.#categories, ...categories])]
    if (wanted?.length === this.#categories?.length) return false
    this.#categories = wanted
    this.forget()
    return true
  }

  /** What was read may no longer be what the log holds. */
  forget(): void {
    this.#kept = undefined
    this.#meanwhile = []
  }

  /** Keeps what comes behind this position, unless something is kept already. */
  beginAt(position: number): void {
    this.#kept ??= { events: [], from: position, through: position }
  }

  /** Takes what has come, unless something is missing before it: then it will be read. */
  add(stretch: Stretch): void {
    const kept = this.#kept
    if (!kept) return
    if (this.#reading) return void this.#meanwhile.push(stretch)
    this.#take(kept, stretch)
    forgetOld(kept)
  }

  /** The same as a page; memory may be a moment older than the log, but never has a gap. */
  async window(after: number, limit: number, filter: LogFilter): Promise<Window> {
    if (this.#kept && after >= this.#kept.through) await this.extend()
    const kept = this.#kept
    if (kept && after >= kept.from && after <= kept.through) return windowOf(kept, { after, limit, filter })
    const window = await this.#pages.window(after, limit, filter)
    if (window.through >= window.head) this.beginAt(window.through)
    return window
  }

  /** Reads on. One page at a time; whoever asks meanwhile gets what it brings. */
  extend(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
      this.#meanwhile = []
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    const kept = this.#kept
    if (!kept) return
    const { events, through } = await this.#pages.window(kept.through, readMax, this.filter)
    kept.events.push(...events)
    kept.through = Math.max(kept.through, through)
    for (const stretch of this.#meanwhile) this.#take(kept, stretch)
    forgetOld(kept)
  }

  #take(kept: Kept, { base, pieces }: Stretch): void {
    if (base > kept.through) return
    for (const { stream, through, events } of pieces) {
      if (through <= kept.through) continue
      const wanted = isOf(stream, this.#categories) ? events() : []
      for (const event of wanted) if (event.position > kept.through) kept.events.push(event)
      kept.through = through
    }
  }
}

function forgetOld(kept: Kept): void {
  if (kept.events.length <= keptMax + readMax) return
  const gone = kept.events.splice(0, kept.events.length - keptMax)
  kept.from = gone.at(-1)!.position
}

interface Wanted {
  readonly after: number
  readonly limit: number
  readonly filter: LogFilter
}

function windowOf(kept: Kept, { after, limit, filter }: Wanted): Window {
  const events: StoredEvent[] = []
  let through = kept.through
  for (let index = firstBehind(kept.events, after); index < kept.events.length; index++) {
    const event = kept.events[index]!
    if (!isOf(event.stream, filter.categories)) continue
    events.push(event)
    if (events.length < limit) continue
    through = event.position
    break
  }
  return { events, through, head: kept.through }
}

function firstBehind(events: readonly StoredEvent[], position: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (events[middle]!.position <= position) low = middle + 1
    else high = middle
  }
  return low
}

function isOf(stream: string, categories: readonly string[] | undefined): boolean {
  return !categories || categories.includes(categoryOf(stream))
}
