import { LRUCache } from 'lru-cache'
import { evolve, parseStreamName } from '../../../packages/kernel/decider.ts'
import { ownerOf, type Owner } from '../../../packages/kernel/owner.ts'
import type { Documents, RecordedEvent, Row } from '../../../packages/kernel/projection.ts'

/** A stream's state as stored in its table. */
export type StoredDocument = Owner & {
  readonly id: string
  readonly state: unknown
  readonly revision: number
  readonly created: number
  readonly created_at: string
}

/** A stream's state as the read model knows it. */
interface FoldedDocument {
  readonly id: string
  readonly owner: Owner
  readonly created: number
  readonly created_at: string
  state: unknown
  revision: number
  position: number
  /** The declared columns; `undefined` when the stream is not shown. */
  columns: Row | undefined
  isStored: boolean
}

export type LoadDocuments = (ids: readonly string[]) => Promise<readonly StoredDocument[]>

/** Rows that were folded but not yet written. */
export interface FoldedRows {
  readonly added: readonly Row[]
  readonly changed: readonly Row[]
}

const statesMaxDefault = 5_000

/**
 * Folds the events of a documents read model stream by stream. It caches the newest states, and keeps every
 * state that is not certainly in the table.
 */
export class DocumentFold {
  readonly #model: Documents<never>
  readonly #load: LoadDocuments
  /** States from the table, as many as fit. */
  readonly #stored: LRUCache<string, FoldedDocument>
  /** Read from the table for the current events. */
  readonly #loaded = new Map<string, FoldedDocument>()
  #changed = new Map<string, FoldedDocument>()
  /** Being written to the table. */
  #taken = new Map<string, FoldedDocument>()

  constructor(model: Documents<never>, load: LoadDocuments, statesMax = statesMaxDefault) {
    this.#model = model
    this.#load = load
    this.#stored = new LRUCache({ max: statesMax })
  }

  /** Drops all states, when what was folded has not been written. */
  clear(): void {
    this.#stored.clear()
    this.#loaded.clear()
    this.#changed.clear()
    this.#taken.clear()
  }

  /** Loads the states that the events build on. */
  async prepare(events: readonly Pick<RecordedEvent, 'stream' | 'revision'>[]): Promise<void> {
    const begun = new Set<string>()
    const missing = new Set<string>()
    for (const { stream, revision } of events) {
      const { id } = parseStreamName(stream)
      if (revision === 0) begun.add(id)
      else if (!begun.has(id) && !this.#known(id)) missing.add(id)
    }
    if (missing.size === 0) return
    for (const stored of await this.#load([...missing])) {
      this.#loaded.set(stored.id, known(stored))
    }
  }

  /** Folds one more event, unless the read model has seen it before. */
  apply(event: RecordedEvent): void {
    const { id, revision, position } = event
    const known = this.#known(id)
    if (known && revision <= known.revision) return
    if (revision !== (known?.revision ?? -1) + 1)
      throw new Error(`the read model has not seen revision ${revision - 1}`)
    const { decider } = this.#model
    const before: unknown = known ? known.state : decider.initial()
    const state: unknown = evolve(decider, before, event, event.metadata)
    const columns = this.#model.row(state as never)
    const next = known ?? begin(event)
    next.state = state
    next.revision = revision
    next.position = position
    next.columns = columns
    this.#changed.set(id, next)
  }

  /** What has changed since the last call. The rows refer to states, which the next event may modify. */
  take(): FoldedRows {
    const rows: { added: Row[]; changed: Row[] } = { added: [], changed: [] }
    for (const known of this.#changed.values()) {
      ;(known.isStored ? rows.changed : rows.added).push(rowOf(known))
      known.isStored = true
    }
    this.#taken = this.#changed
    this.#changed = new Map()
    this.#loaded.clear()
    return rows
  }

  /** What was taken is in the table now and may be evicted. */
  settle(): void {
    for (const [id, known] of this.#taken) this.#stored.set(id, known)
    this.#taken.clear()
  }

  #known(id: string): FoldedDocument | undefined {
    return this.#changed.get(id) ?? this.#taken.get(id) ?? this.#loaded.get(id) ?? this.#stored.get(id)
  }
}

function begin({ id, position, metadata }: RecordedEvent): FoldedDocument {
  return {
    id,
    owner: ownerOf(metadata),
    created: position,
    created_at: metadata.at,
    state: undefined,
    revision: 0,
    position,
    columns: undefined,
    isStored: false,
  }
}

function known(stored: StoredDocument): FoldedDocument {
  const { id, state, revision, created, created_at } = stored
  const read = { id, owner: ownerOf(stored), state, revision, created, created_at }
  return { ...read, position: 0, columns: undefined, isStored: true }
}

/** A stream that is not shown has a row too: later events are folded onto its state. */
function rowOf(known: FoldedDocument): Row {
  const { id, owner, created, created_at, revision, position, state, columns } = known
  const shown = columns !== undefined
  const row = {
    id,
    created,
    created_at,
    revision,
    position,
    state: state as object,
    shown,
  }
  return Object.assign(row, 'platform' in owner ? undefined : owner, columns)
}
