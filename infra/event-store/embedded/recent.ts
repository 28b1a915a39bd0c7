import { categoryOf } from '../../../packages/kernel/decider.ts'
import type { LogFilter, StoredEvent } from '../../../packages/kernel/ports.ts'
import { storedEvents } from './batch.ts'
import type { Reader, Window } from './reader.ts'
import type { Placed } from './writer.ts'

/** The newest events that are kept, and how many are read at a time. */
const keptMax = 5_000
const readMax = 2_500

/** What one statement of this process has written behind the position `base`. */
interface WrittenBatch {
  readonly base: number
  readonly written: readonly Placed[]
}

/** All wanted events behind `from` up to `through`, in the order of the log. */
interface Kept {
  readonly events: StoredEvent[]
  from: number
  through: number
}

/**
 * The end of the log in memory. All subscriptions of a process that have caught up follow the same events, so
 * each event is decoded once, whoever wrote it, and none that nobody here wants; what this process itself
 * wrote is not read unless others have written between. Those that are further behind read for themselves.
 */
export class RecentEvents {
  readonly #reader: Reader
  /** What the subscriptions of this process want; `undefined` is all. */
  #categories: readonly string[] | undefined = []
  /** From the first time that anybody reached the end of the log. */
  #kept: Kept | undefined
  #reading: Promise<void> | undefined
  /** What was written while a read was under way, which may have brought it or not. */
  #meanwhile: WrittenBatch[] = []

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Whoever asks for windows with a filter says so before. */
  include({ categories }: LogFilter): void {
    const wanted = categories && this.#categories && [...new Set([...this.#categories, ...categories])]
    if (wanted?.length === this.#categories?.length) return
    this.#categories = wanted
    this.#kept = undefined
  }

  /** Takes what this process has written, unless something is missing before it: then it will be read. */
  add(base: number, written: readonly Placed[]): void {
    const kept = this.#kept
    if (!kept) return
    if (this.#reading) return void this.#meanwhile.push({ base, written })
    this.#take(kept, { base, written })
    forgetOld(kept)
  }

  /** The same as the reader's own window; memory may be a moment older than the log, but never has a gap. */
  async window(after: number, limit: number, filter: LogFilter): Promise<Window> {
    if (this.#kept && after >= this.#kept.through) await this.#extend()
    const kept = this.#kept
    if (kept && after >= kept.from && after <= kept.through) return windowOf(kept, { after, limit, filter })
    const window = await this.#reader.window(after, limit, filter)
    const { through, head } = window
    if (through >= head) this.#kept ??= { events: [], from: through, through }
    return window
  }

  /** One read at a time; whoever asks meanwhile gets what it brings. */
  #extend(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
      this.#meanwhile = []
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    const kept = this.#kept!
    const filter = this.#categories ? { categories: this.#categories } : {}
    const { events, through } = await this.#reader.window(kept.through, readMax, filter)
    kept.events.push(...events)
    kept.through = through
    for (const batch of this.#meanwhile) this.#take(kept, batch)
    forgetOld(kept)
  }

  /** Nothing but a batch lies between its base and its end, so what is not kept of it is right behind. */
  #take(kept: Kept, { base, written }: WrittenBatch): void {
    if (base > kept.through) return
    for (const { append, after, through } of written) {
      if (through <= kept.through) continue
      const events = isOf(append.stream, this.#categories) ? storedEvents(append, after) : []
      for (const event of events) if (event.position > kept.through) kept.events.push(event)
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
