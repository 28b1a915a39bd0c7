import { LRUCache } from 'lru-cache'
import { evolve, type AnyDecider } from '../../packages/kernel/decider.ts'
import { foldStored, snapshotOf } from '../../packages/kernel/history.ts'
import { noStream, type EventStore, type Snapshots, type StoredEvent } from '../../packages/kernel/ports.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'

type EventPosition = Pick<StoredEvent, 'stream' | 'revision'>

interface CachedState {
  readonly decider: AnyDecider
  state: unknown
  revision: number
  /** Revision of the snapshot that this relay keeps of it. */
  kept: number
}

export interface StatesOptions {
  readonly store: EventStore
  readonly snapshots: Snapshots
  /** Streams whose state is cached. */
  readonly statesMax?: number
}

const statesMaxDefault = 5_000
/** A restarted relay reads at most this many events of a stream, plus those of its last batch. */
const snapshotEvery = 1_000
/** An event store answer that exceeds its time-out never arrives. */
const pageSize = 5_000

/**
 * The states of streams when their events happened. The executor's snapshots are of current states: a lagging
 * relay keeps its own, none of which is ahead of its checkpoint.
 */
export class StatesBehind {
  readonly #store: EventStore
  readonly #snapshots: Snapshots
  readonly #cached: LRUCache<string, CachedState>
  /** Streams that have moved far beyond their snapshot. */
  readonly #due = new Set<string>()
  #forgotten = 0

  constructor({ store, snapshots, statesMax = statesMaxDefault }: StatesOptions) {
    this.#store = store
    this.#snapshots = snapshots
    this.#cached = new LRUCache({ max: statesMax })
  }

  isKnown({ stream, revision }: EventPosition): boolean {
    return revision === noStream || this.#cached.get(stream)?.revision === revision
  }

  /** The state after the event, when the state before it is cached. */
  follow(decider: AnyDecider, event: RecordedEvent): unknown {
    const { stream, revision } = event
    const known = revision === 0 ? unborn(decider) : this.#cached.get(stream)
    if (known?.revision !== revision - 1) return undefined
    known.state = evolve(decider, known.state, event, event.metadata)
    known.revision = revision
    this.#remember(stream, known)
    return known.state
  }

  /** Reads what is not cached, from the nearest snapshot on and in pieces. */
  async at(decider: AnyDecider, { stream, revision }: EventPosition): Promise<unknown> {
    const [general, own] = await Promise.all([
      snapshotOf(this.#snapshots, decider, stream),
      snapshotOf(this.#snapshots, decider, ownName(stream)),
    ])
    const start = [this.#cached.get(stream), own, general]
      .filter((one) => one !== undefined && one.revision <= revision)
      .reduce((nearest, one) => (one!.revision > (nearest?.revision ?? noStream) ? one : nearest), undefined)
    // States may be modified in place: when reading fails midway, this one belongs to no revision any more.
    this.#cached.delete(stream)
    let state = start ? start.state : decider.initial()
    const forgotten = this.#forgotten
    for (let from = (start?.revision ?? noStream) + 1; from <= revision;) {
      const limit = Math.min(pageSize, revision - from + 1)
      const events = await this.#store.readStream(stream, from, limit)
      if (events.length === 0) throw new Error(`${stream} ends before revision ${revision}`)
      state = foldStored(decider, events, state)
      from += events.length
    }
    if (forgotten === this.#forgotten)
      this.#remember(stream, { decider, state, revision, kept: own?.revision ?? noStream })
    return state
  }

  forget(): void {
    this.#cached.clear()
    this.#forgotten++
  }

  /** Call it when the checkpoint has moved past everything that was followed. */
  async keepSnapshots(): Promise<void> {
    for (const stream of this.#due) {
      const known = this.#cached.peek(stream)
      if (known?.decider.snapshot) {
        const { state, revision, decider } = known
        await this.#snapshots.save(ownName(stream), decider.snapshot!.version, { revision, state })
        known.kept = revision
      }
      this.#due.delete(stream)
    }
  }

  #remember(stream: string, known: CachedState): void {
    this.#cached.set(stream, known)
    if (known.decider.snapshot && known.revision - known.kept >= snapshotEvery) this.#due.add(stream)
  }
}

function unborn(decider: AnyDecider): CachedState {
  return { decider, state: decider.initial(), revision: noStream, kept: noStream }
}

/** Stored beside the executor's snapshot of the same stream. */
function ownName(stream: string): string {
  return `relay/${stream}`
}
