import type pg from 'pg'
import type { GiveWay } from '../../event-loop/turns.ts'
import { categoryOf, type AnyDecider } from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import type { Log, StoredEvent } from '../../../packages/kernel/ports.ts'
import type { ReadModel, RecordedEvent } from '../../../packages/kernel/projection.ts'
import type { ProjectionCursor } from './projection-cursor.ts'
import { copyInto } from '../client/copy.ts'
import { writeTo, type TableWrite, type Writing } from './changes.ts'
import { prepared } from '../client/prepared-statements.ts'
import { rowsOf, type RowWriter } from './row-writer.ts'

export interface ProjectionBatchOptions {
  readonly deciders: ReadonlyMap<string, AnyDecider>
  readonly log: Log
  readonly giveWay?: GiveWay | undefined
}

/** One of the read models in this batch, and what changes in its table. */
interface Part {
  readonly track: ProjectionCursor
  readonly rows: RowWriter
}

/** What one read model has to write, whatever is folded meanwhile. */
export interface PartWrite {
  readonly track: ProjectionCursor
  readonly writes: readonly TableWrite[]
  /** What it parks. */
  readonly poisoned: readonly Poisoned[]
}

interface Poisoned {
  readonly track: ProjectionCursor
  readonly event: StoredEvent
  readonly error: unknown
}

/**
 * A piece of the log, folded into the changes it makes in several read models, until it is written as a
 * whole.
 */
export class ProjectionBatch {
  readonly tracks: readonly ProjectionCursor[]
  readonly #options: ProjectionBatchOptions
  readonly #parts: readonly Part[]
  /** Which cursors follow an event, by category and type. */
  readonly #routes = new Map<string, Map<string, readonly Part[]>>()
  readonly #poisoned: Poisoned[] = []

  constructor(tracks: readonly ProjectionCursor[], options: ProjectionBatchOptions) {
    this.tracks = tracks
    this.#options = options
    this.#parts = tracks.map((track) => ({ track, rows: rowsOf(track) }))
  }

  /** Folds the next events; some cursors may have seen part of them. */
  async add(events: readonly StoredEvent[]): Promise<void> {
    await this.#prepare(events, isAwaited)
    for (const event of events) {
      await this.#options.giveWay?.()
      const recordedOnce = this.#recordedOnce(event)
      for (const { track, rows } of this.#followers(event)) {
        if (!isAwaited(track, event)) continue
        try {
          rows.apply(recordedOnce())
        } catch (error) {
          this.park({ track, event, error })
        }
      }
    }
  }

  /** Folds events that were parked; throws when one of them is still poisoned. */
  async addParked(events: readonly StoredEvent[]): Promise<void> {
    await this.#prepare(events, () => true)
    for (const event of events) {
      const recordedOnce = this.#recordedOnce(event)
      for (const { rows } of this.#followers(event)) rows.apply(recordedOnce())
    }
  }

  /** Ends the batch: returns how it is written. */
  take(): readonly PartWrite[] {
    return this.#parts.map(({ track, rows }) => {
      const poisoned = this.#poisoned.filter((one) => one.track === track)
      return { track, writes: rows.take(), poisoned }
    })
  }

  async #prepare(
    events: readonly StoredEvent[],
    isWanted: (track: ProjectionCursor, event: StoredEvent) => boolean,
  ): Promise<void> {
    const wanted = new Map<ProjectionCursor, StoredEvent[]>()
    for (const event of events) {
      for (const { track } of this.#followers(event)) {
        if (!track.fold || !isWanted(track, event)) continue
        const others = wanted.get(track)
        if (others) others.push(event)
        else wanted.set(track, [event])
      }
    }
    for (const [track, its] of wanted) await track.fold?.prepare(its)
  }

  /** Several read models follow the same event; it is decoded once, on demand. */
  #recordedOnce(event: StoredEvent): () => RecordedEvent {
    let known: RecordedEvent | undefined
    return () => {
      if (known) return known
      const decider = this.#options.deciders.get(categoryOf(event.stream))
      if (!decider) throw new Error(`nobody knows the category of ${event.stream}`)
      return (known = recordedEvent(decider, event))
    }
  }

  #followers(event: StoredEvent): readonly Part[] {
    const category = categoryOf(event.stream)
    let types = this.#routes.get(category)
    if (!types) this.#routes.set(category, (types = new Map()))
    let parts = types.get(event.type)
    if (!parts) {
      parts = this.#parts.filter(({ track }) => follows(track.model, category, event.type))
      types.set(event.type, parts)
    }
    return parts
  }

  /**
   * A poisoned event parks its stream, not the projector: later events of that stream wait, all others go on.
   */
  park(poisoned: Poisoned): void {
    const { track, event, error } = poisoned
    const { stream, revision, type } = event
    this.#options.log.error({ consumer: track.table.name, stream, revision, type, error }, 'parked')
    track.parked.add(stream)
    this.#poisoned.push(poisoned)
  }
}

/** The events that a cursor has not seen and may see. */
function isAwaited({ position, parked }: ProjectionCursor, event: StoredEvent): boolean {
  return event.position > position && !parked.has(event.stream)
}

function follows(model: ReadModel, category: string, type: string): boolean {
  return model.kind === 'projection' ? type in model.on : model.decider.category === category
}

export async function writePart(connection: pg.ClientBase, { writes, poisoned }: PartWrite): Promise<void> {
  await writeTo(writingOn(connection), writes)
  for (const one of poisoned) await insertParked(connection, one)
}

async function insertParked(connection: pg.ClientBase, { track, event, error }: Poisoned): Promise<void> {
  const { stream, revision, position, id, type } = event
  await connection.query(
    `insert into parked (consumer, stream, revision, position, event_id, type, error) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (consumer, stream, revision) do update set error = excluded.error`,
    [track.table.name, stream, revision, position, id, type, String(error)],
  )
}

function writingOn(connection: pg.ClientBase): Writing {
  return {
    run: async (statement, rows) => {
      await connection.query(prepared(statement, [rows]))
    },
    copy: (table, rows) => copyInto(connection, table, rows),
  }
}
