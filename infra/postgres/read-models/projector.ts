import type pg from 'pg'
import type { GiveWay } from '../../event-loop/turns.ts'
import type { AnyDecider } from '../../../packages/kernel/decider.ts'
import type { EventStore, Log, StoredEvent } from '../../../packages/kernel/ports.ts'
import type { Documents, ReadModel } from '../../../packages/kernel/projection.ts'
import { settleAll } from '../client/settle-all.ts'
import { DocumentFold, type StoredDocument } from './document-fold.ts'
import { isDataFailure } from '../client/failures.ts'
import {
  fenced,
  fencedByKey,
  fencedStatement,
  type FencedStatement,
  type TermFence,
} from '../consumers/fence.ts'
import { moving, movingWith } from './moves.ts'
import { ProjectionBatch, writePart, type PartWrite } from './projection-batch.ts'
import type { ProjectionCursor } from './projection-cursor.ts'
import { createIndexes, createTable, selectDocument, tableOf, type Table } from './tables.ts'
import { createTotals } from './totals.ts'
import { KeyBloomFilter } from '../idempotency/key-bloom-filter.ts'

export interface ProjectorOptions {
  readonly pool: pg.Pool
  readonly store: EventStore
  readonly deciders: readonly AnyDecider[]
  readonly log: Log
  readonly fence?: TermFence | undefined
  /** States cached per read model once they are in its table. */
  readonly statesMax?: number
  readonly giveWay?: GiveWay | undefined
}

interface RefusedBatch {
  readonly events: readonly StoredEvent[]
  readonly through: number
  readonly error: unknown
}

/** Rebuilds mostly touch new streams; a large cache only costs garbage collection. */
const statesMaxAnew = 500

/** Transactions that fill tables, running concurrently. */
const writingLanes = 2
/** Statements that create indexes, running concurrently. */
const finishingLanes = 2

/**
 * The first reader of rows marks them as committed. With page checksums PostgreSQL then writes each page to
 * its WAL, and compressing them takes as long as the indexes. Not every user may change that setting.
 */
const toMakeIndexes = `
  set local maintenance_work_mem = '256MB';
  set local max_parallel_maintenance_workers = 0;
  select set_config('wal_compression', 'off', true) where has_parameter_privilege('wal_compression', 'set')`

/** Applies batches of events to read models: tables and checkpoints move in one transaction. */
export class Projector {
  readonly #options: ProjectorOptions
  readonly #deciders: ReadonlyMap<string, AnyDecider>

  constructor(options: ProjectorOptions) {
    this.#options = options
    this.#deciders = new Map(options.deciders.map((decider) => [decider.category, decider]))
  }

  /** Creates a read model's table if it does not exist, and reads its checkpoint. */
  async open(
    model: ReadModel,
    generation: number,
    statesMax = this.#options.statesMax,
  ): Promise<ProjectionCursor> {
    const { pool, fence } = this.#options
    const table = tableOf(model, generation)
    await fenced(pool, fence, (connection) => begin(connection, table))
    const fold = model.kind === 'documents' ? this.#foldOf(model, table, statesMax) : undefined
    const found = { parked: new Set<string>(), written: undefined, position: 0, isUnsure: true }
    const track: ProjectionCursor = { model, generation, table, fold, ...found }
    await this.#find(track)
    return track
  }

  /** The same for a table that is filled from the first event and published when complete. */
  async openAnew(model: ReadModel, generation: number): Promise<ProjectionCursor> {
    const track = await this.open(model, generation, statesMaxAnew)
    if (track.position === 0) track.written = new KeyBloomFilter()
    return track
  }

  /**
   * Creates what tables lack while they are filled for the first time. The largest come first and no
   * statement waits for another, so that no processor is idle.
   */
  async finish(tracks: readonly ProjectionCursor[]): Promise<void> {
    const { pool } = this.#options
    const sizes = await tableSizes(pool, tracks)
    const largest = [...tracks].sort(
      (one, other) => sizes.get(other.table.name)! - sizes.get(one.table.name)!,
    )
    const indexes = largest.flatMap(({ model, table }) => createIndexes(model, table))
    const totals = largest.map(({ model, table }) => createTotals(model, table).join(';'))
    const lacking = [...indexes, ...totals.filter((text) => text !== '')].values()
    const lane = async () => {
      for (const statement of lacking) await this.#make(statement)
    }
    await settleAll(Array.from({ length: finishingLanes }, lane))
  }

  async #make(statement: string): Promise<void> {
    const { pool, fence } = this.#options
    await fenced(pool, fence, async (connection) => {
      await connection.query(toMakeIndexes)
      await connection.query(statement)
    })
  }

  /** Reads what is not in memory: a read model's checkpoint, and its parked streams. */
  async #find(track: ProjectionCursor): Promise<void> {
    const { pool } = this.#options
    const values = [track.table.name]
    const checkpoint = 'select position from checkpoints where name = $1'
    const { rows } = await pool.query<{ position: number }>(checkpoint, values)
    const text = 'select distinct stream from parked where consumer = $1'
    const parked = await pool.query<{ stream: string }>(text, values)
    track.fold?.clear()
    track.parked.clear()
    for (const { stream } of parked.rows) track.parked.add(stream)
    track.position = Number(rows[0]!.position)
    // Another process may have written to the table.
    if (track.position > 0) track.written = undefined
    track.isUnsure = false
  }

  /** Begins a batch, of which these cursors may have seen part. */
  async begin(tracks: readonly ProjectionCursor[]): Promise<ProjectionBatch> {
    await this.locate(tracks)
    return this.#span(tracks)
  }

  /** Re-reads the checkpoints of cursors whose last write may have failed. */
  async locate(tracks: readonly ProjectionCursor[]): Promise<void> {
    for (const track of tracks) if (track.isUnsure) await this.#find(track)
  }

  /** Folds the next events into a batch. */
  async fold(span: ProjectionBatch, events: readonly StoredEvent[]): Promise<void> {
    try {
      await span.add(events)
    } catch (error) {
      this.abandon(span.tracks)
      throw error
    }
  }

  /** The batch is discarded: its cursors' checkpoints are read again. */
  abandon(tracks: readonly ProjectionCursor[]): void {
    for (const track of tracks) track.isUnsure = true
  }

  /** Writes a batch and moves its cursors' checkpoints to `through`; the next may be folded meanwhile. */
  async write(span: ProjectionBatch, through: number): Promise<void> {
    const parts = behind(span, through)
    if (parts.length > 0) await this.#write(parts, through, movingWith(parts, through))
  }

  /**
   * The same with a transaction per cursor, several of them concurrent: for tables that have no readers yet.
   */
  async writeApart(span: ProjectionBatch, through: number): Promise<void> {
    const left = behind(span, through).values()
    const lane = async () => {
      for (const part of left) await this.#write([part], through)
    }
    await settleAll(Array.from({ length: writingLanes }, lane))
  }

  /** With `whole`, one statement does it all. */
  async #write(parts: readonly PartWrite[], through: number, whole?: FencedStatement): Promise<void> {
    const { pool, fence } = this.#options
    const tracks = parts.map(({ track }) => track)
    const requireAll = (moved: number) => {
      if (moved !== tracks.length) throw new Error('these read models have been moved by somebody else')
    }
    try {
      if (whole) requireAll(await fencedStatement(pool, fence, whole))
      else
        await fencedByKey(pool, fence, moving(parts, through), async (connection, moved) => {
          requireAll(moved)
          for (const part of parts) await writePart(connection, part)
        })
    } catch (error) {
      this.abandon(tracks)
      throw error
    }
    for (const track of tracks) {
      track.fold?.settle()
      track.position = through
    }
  }

  /** Applies one batch to cursors that may have seen part of it. */
  async apply(
    tracks: readonly ProjectionCursor[],
    events: readonly StoredEvent[],
    through: number,
  ): Promise<void> {
    try {
      const span = await this.begin(tracks)
      await this.fold(span, events)
      await this.write(span, through)
    } catch (error) {
      this.abandon(tracks)
      if (!isDataFailure(error) || events.length === 0) throw error
      await this.#isolate(tracks, { events, through, error })
    }
  }

  /** When PostgreSQL refuses a row, halves the batch until the event is found, and parks its stream. */
  async #isolate(
    tracks: readonly ProjectionCursor[],
    { events, through, error }: RefusedBatch,
  ): Promise<void> {
    const half = events.length >> 1
    if (half > 0) {
      await this.apply(tracks, events.slice(0, half), events[half - 1]!.position)
      return this.apply(tracks, events.slice(half), through)
    }
    if (tracks.length > 1) {
      for (const track of tracks) await this.apply([track], events, through)
      return
    }
    const span = await this.begin(tracks)
    span.park({ track: tracks[0]!, event: events[0]!, error })
    await this.write(span, through)
  }

  /** Brings a parked stream up to its read model's checkpoint; throws when its event is still poisoned. */
  async unpark(track: ProjectionCursor, stream: string): Promise<void> {
    const { pool, store, fence } = this.#options
    // A write whose answer was lost may have moved the checkpoint past events of this stream.
    await this.locate([track])
    const { rows } = await pool.query<{ revision: number | null }>(
      'select min(revision) as revision from parked where consumer = $1 and stream = $2',
      [track.table.name, stream],
    )
    const from = rows[0]?.revision
    if (from == null) return
    const missed = (await store.readStream(stream, from)).filter(({ position }) => position <= track.position)
    track.fold?.clear()
    // Until it is certain, its outcome is as unknown as that of any other write.
    track.isUnsure = true
    const span = this.#span([track])
    await span.addParked(missed)
    const parts = span.take()
    await fenced(pool, fence, async (connection) => {
      for (const part of parts) await writePart(connection, part)
      const text = 'delete from parked where consumer = $1 and stream = $2'
      await connection.query(text, [track.table.name, stream])
    })
    track.fold?.settle()
    track.parked.delete(stream)
    track.isUnsure = false
  }

  #span(tracks: readonly ProjectionCursor[]): ProjectionBatch {
    return new ProjectionBatch(tracks, { ...this.#options, deciders: this.#deciders })
  }

  #foldOf(model: Documents<never>, { name }: Table, statesMax?: number): DocumentFold {
    const columns = selectDocument(model, 'id', 'created', 'created_at', 'revision', 'state')
    const text = `${columns} from ${name} where id = any($1)`
    const load = async (ids: readonly string[]) =>
      (await this.#options.pool.query<StoredDocument>(text, [ids])).rows
    return new DocumentFold(model, load, statesMax)
  }
}

/** The events of a batch that goes this far which its cursors have not seen. */
function behind(span: ProjectionBatch, through: number): readonly PartWrite[] {
  return span.take().filter(({ track }) => track.position < through)
}

async function tableSizes(
  pool: pg.Pool,
  tracks: readonly ProjectionCursor[],
): Promise<ReadonlyMap<string, number>> {
  const text = 'select name, pg_relation_size(name::regclass) as size from unnest($1::text[]) as name'
  const names = tracks.map(({ table }) => table.name)
  const { rows } = await pool.query<{ name: string; size: number }>(text, [names])
  return new Map(rows.map(({ name, size }) => [name, size]))
}

async function begin(connection: pg.ClientBase, table: Table): Promise<void> {
  await connection.query(createTable(table))
  const text = 'insert into checkpoints (name, position) values ($1, 0) on conflict do nothing'
  await connection.query(text, [table.name])
}
