import { LRUCache } from 'lru-cache'
import { evolve, parseStreamName } from '../../packages/kernel/decider.ts'
import type { Documents, Recorded, Row } from '../../packages/kernel/projection.ts'

/** A stream's state as the read model knows it. */
interface Known {
  readonly state: unknown
  readonly revision: number
  readonly merchant: string
  readonly livemode: boolean
  readonly created: number
  readonly created_at: string
}

export interface StoredDocument extends Known {
  readonly id: string
}

export type LoadDocuments = (ids: readonly string[]) => Promise<readonly StoredDocument[]>

const statesMaxDefault = 10_000

/** Folds the events of a documents read model stream by stream and keeps the newest states in memory. */
export class DocumentFold {
  readonly #model: Documents<never>
  readonly #load: LoadDocuments
  readonly #known: LRUCache<string, Known>

  constructor(model: Documents<never>, load: LoadDocuments, statesMax = statesMaxDefault) {
    this.#model = model
    this.#load = load
    this.#known = new LRUCache({ max: statesMax })
  }

  /** Forgets all states, for when what was folded has not been written. */
  clear(): void {
    this.#known.clear()
  }

  /** Loads the states that the events go on from. */
  async prepare(events: readonly Pick<Recorded, 'stream' | 'revision'>[]): Promise<void> {
    const missing = new Set<string>()
    for (const { stream, revision } of events) {
      const { id } = parseStreamName(stream)
      if (revision > 0 && !this.#known.has(id)) missing.add(id)
    }
    if (missing.size === 0) return
    for (const { id, ...known } of await this.#load([...missing])) this.#known.set(id, known)
  }

  /**
   * The row after one more event; `undefined` when the read model shows none, or has seen the event before.
   */
  apply(event: Recorded): Row | undefined {
    const { id, revision, position, metadata } = event
    const known = this.#known.get(id)
    if (known && revision <= known.revision) return undefined
    if (revision !== (known?.revision ?? -1) + 1)
      throw new Error(`the read model has not seen revision ${revision - 1}`)
    const { decider } = this.#model
    const state = evolve(decider, known ? known.state : decider.initial(), event)
    const { merchant, livemode } = metadata
    const next: Known = known
      ? { ...known, state, revision }
      : { state, revision, merchant, livemode, created: position, created_at: metadata.at }
    this.#known.set(id, next)
    const columns = this.#model.row(state as never)
    // A stream that shows nothing has a row as well: later events are folded onto its state.
    return { id, ...next, position, state: state as object, shown: columns !== undefined, ...columns }
  }
}
