import { readInPages } from '../../../packages/kernel/pages.ts'
import {
  OutcomeUnknownError,
  StoreOverloadedError,
  VersionConflictError,
  type Appended,
  type Irregularity,
  type StoreCounts,
  type EventStore,
  type NewEvent,
  type StoredEvent,
  type Subscription,
  type SubscriptionOptions,
} from '../../../packages/kernel/ports.ts'
import { nobody, type Life } from '../scheduler.ts'
import type { Stage } from '../stage.ts'

interface Follower {
  readonly life: Life
  readonly options: SubscriptionOptions
  position: number
  busy: boolean
  closed: boolean
}

interface Append {
  readonly stream: string
  readonly expected: number
  readonly events: readonly NewEvent[]
}

const retryMs = 500

/** The log that all simulated processes share. It loses nothing; everything around it does. */
export class SimulatedLog {
  readonly events: StoredEvent[] = []
  readonly streams = new Map<string, StoredEvent[]>()
  readonly #stage: Stage
  readonly #onCommit: (event: StoredEvent) => void
  #followers: Follower[] = []

  constructor(stage: Stage, onCommit: (event: StoredEvent) => void) {
    this.#stage = stage
    this.#onCommit = onCommit
  }

  get head(): number {
    return this.events.at(-1)?.position ?? 0
  }

  commit({ stream, expected, events }: Append): Appended {
    const stored = this.streams.get(stream) ?? []
    if (stored.length - 1 !== expected) return this.#repeated({ stream, expected, events })
    for (const event of events) {
      // As in a real store, nobody shares an object with whoever wrote it. Positions have gaps.
      const copy = JSON.parse(JSON.stringify(event)) as NewEvent
      const position = this.head + 1 + (event.id.charCodeAt(35) % 3)
      const entry: StoredEvent = { ...copy, stream, revision: stored.length, position }
      stored.push(entry)
      this.events.push(entry)
      this.#onCommit(entry)
    }
    this.streams.set(stream, stored)
    for (const follower of this.#followers) this.#wake(follower)
    return { revision: stored.length - 1, position: this.head }
  }

  /** The same append again has happened already; any other is in conflict with what was written. */
  #repeated({ stream, expected, events }: Append): Appended {
    const stored = this.read(stream, expected + 1, events.length)
    const last = stored.at(-1)
    const isSame =
      stored.length === events.length && stored.every(({ id }, index) => id === events[index]?.id)
    if (isSame && last) return { revision: last.revision, position: last.position }
    throw new VersionConflictError(stream, expected)
  }

  read(stream: string, from: number, limit = Infinity): readonly StoredEvent[] {
    return (this.streams.get(stream) ?? []).slice(from, from + limit)
  }

  behind(position: number, limit: number): readonly StoredEvent[] {
    let low = 0
    let high = this.events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.events[middle]!.position <= position) low = middle + 1
      else high = middle
    }
    return this.events.slice(low, low + limit)
  }

  /** Every subscription has handled all there is. */
  get isFollowed(): boolean {
    const following = this.#followers.filter(({ life, closed }) => life.alive && !closed)
    return following.every(({ position }) => position >= this.head)
  }

  follow(life: Life, options: SubscriptionOptions): Subscription {
    const follower: Follower = { life, options, position: options.after, busy: false, closed: false }
    this.#followers = [...this.#followers.filter((each) => each.life.alive && !each.closed), follower]
    this.#wake(follower)
    const close = async () => {
      follower.closed = true
      this.#followers = this.#followers.filter((each) => each !== follower)
    }
    return { close }
  }

  #wake(follower: Follower, delayMs = 0): void {
    const { life, busy, closed, position } = follower
    if (busy || closed || !life.alive || position >= this.head) return
    follower.busy = true
    this.#stage.scheduler.after(delayMs, life, () => void this.#handOver(follower))
  }

  async #handOver(follower: Follower): Promise<void> {
    const { options, position } = follower
    // A hundredth of what is asked for, so that batches end at any place.
    const window = this.behind(
      position,
      1 + this.#stage.scheduler.random.below(Math.ceil(options.batchSize / 100)),
    )
    const through = window.at(-1)!.position
    const { categories } = options
    const batch = categories
      ? window.filter(({ stream }) => categories.includes(stream.slice(0, stream.indexOf('-'))))
      : window
    let delayMs = 0
    try {
      await options.handle(batch, through)
      follower.position = through
    } catch (error) {
      options.onError?.(error)
      delayMs = retryMs
    }
    follower.busy = false
    this.#wake(follower, delayMs)
  }
}

/** The log as one process reaches it. */
export class SimulatedStore implements EventStore {
  readonly #log: SimulatedLog
  readonly #stage: Stage
  readonly #life: Life
  readonly #unknown = new Set<string>()

  constructor(log: SimulatedLog, stage: Stage, life: Life) {
    this.#log = log
    this.#stage = stage
    this.#life = life
  }

  append(stream: string, expected: number, given: readonly NewEvent[]): Promise<Appended> {
    const { scheduler } = this.#stage
    const { random, faults } = scheduler
    const append = { stream, expected, events: this.#withIds(given) }
    if (random.chance(faults.overloaded)) {
      return scheduler.call(this.#life, () => fail(new StoreOverloadedError(stream)))
    }
    if (!random.chance(faults.unknownAppend))
      return scheduler.call(this.#life, () => this.#log.commit(append))
    this.#unknown.add(given[0]!.id)
    const fate = random.pick(['before', 'after', 'later'] as const)
    this.#stage.note(() => `  ${this.#life.name} loses the connection ${fate} an append to ${stream}`)
    return scheduler.call(this.#life, () => {
      if (fate === 'after') this.#log.commit(append)
      if (fate === 'later') scheduler.after(0, nobody, () => void this.#arriveLate(append))
      return fail(new OutcomeUnknownError(stream, new Error('the connection broke')))
    })
  }

  /** On its way when its sender stopped waiting: it counts if nobody was faster. */
  #arriveLate(append: Append): void {
    try {
      this.#log.commit(append)
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error
    }
  }

  #withIds(events: readonly NewEvent[]): readonly NewEvent[] {
    if (this.#stage.mistake !== 'new ids on repeat' || !this.#unknown.has(events[0]!.id)) return events
    return events.map((event) => ({ ...event, id: this.#stage.newId() }))
  }

  readStream(stream: string, from: number, limit?: number): Promise<readonly StoredEvent[]> {
    return this.#stage.scheduler.call(this.#life, () => this.#log.read(stream, from, limit))
  }

  readAll(after: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#stage.scheduler.call(this.#life, () => this.#log.behind(after, limit))
  }

  async readAt(position: number): Promise<StoredEvent | undefined> {
    const [event] = await this.readAll(position - 1, 1)
    return event?.position === position ? event : undefined
  }

  readOn(after: number): AsyncGenerator<readonly StoredEvent[], void> {
    return readInPages(this, after, 100)
  }

  head(): Promise<number> {
    return this.#stage.scheduler.call(this.#life, () => this.#log.head)
  }

  subscribe(options: SubscriptionOptions): Subscription {
    return this.#log.follow(this.#life, options)
  }

  async irregularities(): Promise<readonly Irregularity[]> {
    return []
  }

  counts(): StoreCounts {
    return { eventsPassedOver: 0, timesCutOff: 0 }
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {}
}

function fail(error: Error): never {
  throw error
}
