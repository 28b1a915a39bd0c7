import { randomUUID } from 'node:crypto'
import { DamagedStreamError, VersionConflictError } from '../../../packages/kernel/ports.ts'
import type { ProposedEvent } from './messages/append.ts'
import { parsed } from './messages/json-bytes.ts'
import { foreignEventProblem, gapProblem } from './streams/passed-over.ts'
import type { ServerEvent } from './messages/read.ts'
import { historyStream } from './streams/names.ts'

/** Position of a copied event: in the history and in this server's log. */
export interface HistoryMark {
  readonly position: number
  readonly commit: number
}

type Note =
  | { readonly type: 'HistoryBegun'; readonly data: { readonly id: string } }
  | { readonly type: 'HistoryCopyBegun'; readonly data: { readonly id: string } }
  | { readonly type: 'HistoryPlaced'; readonly data: HistoryMark }
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
  readonly #places: HistoryMark[] = []
  #revision = -1

  constructor(notes: Notes) {
    this.#notes = notes
  }

  get last(): HistoryMark | undefined {
    return this.#places.at(-1)
  }

  get beforeLast(): HistoryMark | undefined {
    return this.#places.at(-2)
  }

  /**
   * The position of the event at this place of the server's log. Only what was copied says so itself, and is
   * believed between its waypoints; undefined for an event that cannot be ours.
   */
  positionOf(commit: number, claimed?: unknown): number | undefined {
    const { last } = this
    if (last && commit <= last.commit) return this.#copiedPosition(commit, claimed)
    if (!this.isComplete) return isPosition(claimed) && claimed > (last?.position ?? 0) ? claimed : undefined
    if (claimed !== undefined) return undefined
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
    for (const event of await this.#notes.read()) {
      if (event.revision <= this.#revision) continue
      this.#learn(noteIn(event, this.#revision + 1))
      this.#revision = event.revision
    }
  }

  #copiedPosition(commit: number, claimed: unknown): number | undefined {
    let [low, high] = [0, this.#places.length - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#places[middle]!.commit < commit) low = middle + 1
      else high = middle
    }
    const before = this.#places[low - 1]?.position ?? 0
    const { position } = this.#places[low]!
    return isPosition(claimed) && claimed > before && claimed <= position ? claimed : undefined
  }

  #learn({ type, data }: Note): void {
    if (type === 'HistoryPlaced') return void this.#places.push(data)
    this.id = data.id
    this.isComplete = type !== 'HistoryCopyBegun'
  }
}

/** Throws when one before it is missing, or somebody else has written it: positions would be others. */
function noteIn(event: ServerEvent, expected: number): Note {
  const { type, revision } = event
  const stream = historyStream
  if (revision !== expected) throw new DamagedStreamError({ stream, problem: gapProblem(revision, expected) })
  const note = { type, data: parsed(event.data) }
  if (!isNote(note)) throw new DamagedStreamError({ stream, problem: foreignEventProblem(event) })
  return note
}

function isNote(note: { readonly type: string; readonly data: unknown }): note is Note {
  const { id, position, commit } = (note.data ?? {}) as Readonly<Record<string, unknown>>
  if (note.type === 'HistoryPlaced') return isPosition(position) && isPosition(commit)
  return typeof id === 'string' && ['HistoryBegun', 'HistoryCopyBegun', 'HistoryCopied'].includes(note.type)
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
