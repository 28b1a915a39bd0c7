import { categoryOf } from '../../packages/kernel/decider.ts'
import type { LogFilter, StoredEvent } from '../../packages/kernel/ports.ts'
import type { Pages, Window } from './window.ts'

/** How many of the newest events are kept, and how many are read at a time. */
const keptMax = 5_000
const readMax = 2_500

/** Consecutive events of the log and of their stream. */
export interface Piece {
  readonly stream: string
  /** Position of the last of them. */
  readonly through: number
  /** Decoded only when a subscriber here wants them. */
  readonly events: () => readonly StoredEvent[]
}

/**
 * A range of the log: of the events wanted by this process, there are no others between `base` and the last
 * piece.
 */
export interface LogRange {
  readonly base: number
  readonly pieces: readonly Piece[]
}

/** All wanted events after `from` up to `through`, in log order. */
interface Kept {
  readonly events: StoredEvent[]
  from: number
  through: number
}

/**
 * The end of the log in memory. All subscriptions of a process that have caught up follow the same events, so
 * each event is decoded once, and only if somebody here wants it; nothing is read that has arrived without a
 * gap. Subscriptions further behind read pages of their own.
 */
export class RecentEvents {
  readonly #pages: Pages
  /** Categories wanted by this process's subscriptions; `undefined` is all. */
  #categories: readonly string[] | undefined = []
  /** Kept from the first time that a subscription reached the end of the log. */
  #kept: Kept | undefined
  #reading: Promise<boolean> | undefined
  /** Arrived while a page was being read, which may or may not contain it. */
  #meanwhile: LogRange[] = []

  constructor(pages: Pages) {
    this.#pages = pages
  }

  /** What this process's subscriptions want. */
  get filter(): LogFilter {
    return this.#categories ? { categories: this.#categories } : {}
  }

  /** Without gaps up to here; undefined as long as nothing is kept. */
  get through(): number | undefined {
    return this.#kept?.through
  }

  /** Announces a filter before reading with it. True when more is wanted than before. */
  include({ categories }: LogFilter): boolean {
    const wanted = categories && this.#categories && [...new Set([...this.#categories, ...categories])]
    if (wanted?.length === this.#categories?.length) return false
    this.#categories = wanted
    this.forget()
    return true
  }

  /** What was read may no longer be in the log. */
  forget(): void {
    this.#kept = undefined
    this.#meanwhile = []
  }

  /** Starts keeping events after this position, unless some are kept already. */
  beginAt(position: number): void {
    this.#kept ??= { events: [], from: position, through: position }
  }

  /** Takes new events unless there is a gap before them, which will then be read. */
  add(range: LogRange): void {
    const kept = this.#kept
    if (!kept) return
    if (this.#reading) return void this.#meanwhile.push(range)
    this.#take(kept, range)
    forgetOld(kept)
  }

  /** Serves a page from memory, which may lag slightly but never has gaps. */
  async window(after: number, limit: number, filter: LogFilter): Promise<Window> {
    if (this.#kept && after >= this.#kept.through) await this.extend()
    const kept = this.#kept
    if (kept && after >= kept.from && after <= kept.through) return windowOf(kept, { after, limit, filter })
    const window = await this.#pages.window(after, limit, filter)
    if (window.through >= window.head) this.beginAt(window.through)
    return window
  }

  /** Reads on, one page at a time; concurrent callers share the result. True when there are more pages. */
  extend(): Promise<boolean> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
      this.#meanwhile = []
    })
    return this.#reading
  }

  /** The same, as of now: a page that is being read may be older. */
  async extendAnew(): Promise<boolean> {
    await this.#reading?.catch(() => undefined)
    return this.extend()
  }

  async #read(): Promise<boolean> {
    const kept = this.#kept
    if (!kept) return false
    const { events, through, head } = await this.#pages.window(kept.through, readMax, this.filter)
    kept.events.push(...events)
    kept.through = Math.max(kept.through, through)
    for (const range of this.#meanwhile) this.#take(kept, range)
    forgetOld(kept)
    return through < head
  }

  #take(kept: Kept, { base, pieces }: LogRange): void {
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
