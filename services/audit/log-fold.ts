import { categoryOf, type AnyDecider } from '../../packages/kernel/decider.ts'
import { recordedEvent } from '../../packages/kernel/history.ts'
import type { EventStore, StoredEvent } from '../../packages/kernel/ports.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'

/** Something that is folded from the log up to a position of its own. */
export interface Fold {
  readonly follows: (event: StoredEvent, category: string) => boolean
  readonly apply: (event: RecordedEvent) => void
  /** Called before, with the name of the key that is destroyed. */
  readonly erased?: (event: RecordedEvent, key: string) => void
  /** All events up to here are in it. */
  position: number
  through: number
  /** Streams whose events from a revision on are left out. */
  parked: ReadonlyMap<string, number>
  /** Streams that could not be folded, and why: later events of theirs are left out. */
  readonly faults: Map<string, string>
}

/** Reads the log once for many folds. */
export class LogFold {
  readonly #store: Pick<EventStore, 'readOn'>
  readonly #deciders: ReadonlyMap<string, AnyDecider>
  readonly #onRead: (position: number) => void

  constructor(
    store: Pick<EventStore, 'readOn'>,
    deciders: readonly AnyDecider[],
    onRead: (position: number) => void,
  ) {
    this.#store = store
    this.#deciders = new Map(deciders.map((decider) => [decider.category, decider]))
    this.#onRead = onRead
  }

  aim(fold: Fold, { through, parked }: Pick<Fold, 'through' | 'parked'>): void {
    fold.through = through
    fold.parked = parked
  }

  /** Brings every fold to where it is to go. */
  async run(folds: readonly Fold[]): Promise<void> {
    const behind = folds.filter(({ position, through }) => position < through)
    if (behind.length === 0) return
    const after = Math.min(...behind.map(({ position }) => position))
    const through = Math.max(...behind.map((fold) => fold.through))
    for await (const events of this.#store.readOn(after)) {
      for (const event of events) this.#hand(event, behind)
      const read = events.at(-1)!.position
      for (const fold of behind) fold.position = Math.max(fold.position, Math.min(fold.through, read))
      this.#onRead(read)
      if (read >= through) return
    }
    // The log has no more.
    for (const fold of behind) fold.position = fold.through
  }

  #hand(event: StoredEvent, folds: readonly Fold[]): void {
    const { stream, position, revision } = event
    const category = categoryOf(stream)
    let known: RecordedEvent | undefined
    for (const fold of folds) {
      if (position <= fold.position || position > fold.through || !fold.follows(event, category)) continue
      if (fold.faults.has(stream) || revision >= (fold.parked.get(stream) ?? Infinity)) continue
      try {
        known ??= this.#recorded(event, category)
        if (event.isErased) fold.erased?.(known, event.metadata.sealed!.key)
        fold.apply(known)
      } catch (error) {
        fold.faults.set(stream, `revision ${revision}: ${(error as Error).message}`)
      }
    }
  }

  #recorded(event: StoredEvent, category: string): RecordedEvent {
    const decider = this.#deciders.get(category)
    if (!decider) throw new Error(`nobody knows the category ${category}`)
    return recordedEvent(decider, event)
  }
}
