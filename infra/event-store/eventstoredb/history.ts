import { randomUUID } from 'node:crypto'
import { VersionConflictError } from '../../../packages/kernel/ports.ts'
import type { ProposedEvent } from './append-messages.ts'
import { parsed } from './json-bytes.ts'
import type { ServerEvent } from './read-messages.ts'

/** Position of a copied event: in the history and in this server's log. */
export interface Place {
  readonly position: number
  readonly commit: number
}

type Note =
  | { readonly type: 'HistoryBegun'; readonly data: { readonly id: string } }
  | { readonly type: 'HistoryCopyBegun'; readonly data: { readonly id: string } }
  | { readonly type: 'HistoryPlaced'; readonly data: Place }
  | { readonly type: 'HistoryCopied'; readonly data: { readonly id: string } }

/** The stream in which this service keeps what it must know about the log. */
export interface Notes {
  read(): Promise<readonly ServerEvent[]>
  /** Throws VersionConflictError when another process has written meanwhile. */
  append(expected: number, event: ProposedEvent): Promise<void>
}

/**
 * Copied events keep their original positions, stored in their metadata; later events continue after the last
 * of them. These are waypoints from which the others are found: one per batch of the copy.
 */
export class History {
  /** Id of the history in this store; undefined as long as it has none. */
  id: string | undefined
  /** False while a copy into this store is incomplete. */
  isComplete = true
  readonly #notes: Notes
  readonly #places: Place[] = []
  #revision = -1

  constructor(notes: Notes) {
    this.#notes = notes
  }

  get last(): Place | undefined {
    return this.#places.at(-1)
  }

  get beforeLast(): Place | undefined {
    return this.#places.at(-2)
  }

  /** The position of an event that was written here, not copied. */
  positionOf(commit: number): number {
    const { last } = this
    return last ? last.position + commit - last.commit : commit
  }

  /**
   * Where a read must start to find all events after a position, perhaps with some before it; 0 for the
   * start.
   */
  commitBefore(position: number): number {
    const { last } = this
    if (!last) return position
    if (position >= last.position) return last.commit + position - last.position
    return this.#places.findLast((place) => place.position <= position)?.commit ?? 0
  }

  /** Gives the history an id unless it has one. A process that comes second takes over the first one's. */
  async begin(id: string): Promise<void> {
    try {
      if (this.id === undefined) await this.note({ type: 'HistoryBegun', data: { id } })
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error
      await this.load()
    }
  }

  /** Appends a record; throws when another process has done so meanwhile. */
  async note(note: Note): Promise<void> {
    const event = { id: randomUUID(), type: note.type, data: JSON.stringify(note.data), metadata: '{}' }
    await this.#notes.append(this.#revision, event)
    this.#revision += 1
    this.#learn(note)
  }

  async load(): Promise<void> {
    for (const { type, data, revision } of await this.#notes.read()) {
      if (revision <= this.#revision) continue
      // No other process writes to this stream.
      this.#learn({ type, data: parsed(data) } as Note)
      this.#revision = revision
    }
  }

  #learn({ type, data }: Note): void {
    if (type === 'HistoryPlaced') return void this.#places.push(data)
    this.id = data.id
    this.isComplete = type !== 'HistoryCopyBegun'
  }
}
