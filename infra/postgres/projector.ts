import type pg from 'pg'
import { streamName, type AnyDecider } from '../../packages/kernel/decider.ts'
import { recorded } from '../../packages/kernel/history.ts'
import type { EventStore, Log, StoredEvent } from '../../packages/kernel/ports.ts'
import type { ReadModel, Recorded } from '../../packages/kernel/projection.ts'
import { TableChanges, type Writing } from './changes.ts'
import { copyRows } from './copy.ts'
import { DocumentFold, type StoredDocument } from './document-fold.ts'
import { fenced, type Fence } from './fenced.ts'
import { planByKey, prepared } from './prepared-statements.ts'
import { createIndexes, createTable, tableOf, type Table } from './tables.ts'
import { createTotals } from './totals.ts'

/** One read model on its way along the log. */
export interface Track {
  readonly model: ReadModel
  readonly generation: number
  readonly table: Table
  readonly fold: DocumentFold | undefined
  /** Streams set aside because a handler threw; the others go on. */
  readonly parked: Set<string>
  position: number
  /** A write has failed and may have happened: how far it came is read again before the next one. */
  isUnsure: boolean
}

export interface ProjectorOptions {
  readonly pool: pg.Pool
  readonly store: EventStore
  readonly deciders: readonly AnyDecider[]
  readonly log: Log
  readonly fence?: Fence | undefined
  /** Of each read model, the states that are kept in memory: no fewer than a batch has events. */
  readonly statesMax?: number
}

/** Applies batches of events to read models: tables and checkpoints move in one transaction. */
export class Projector {
  readonly #options: ProjectorOptions
  readonly #deciders: ReadonlyMap<string, AnyDecider>

  constructor(options: ProjectorOptions) {
    this.#options = options
    this.#deciders = new Map(options.deciders.map((decider) => [decider.category, decider]))
  }

  /** Makes the table of a read model when it is not there, and finds out how far it has come. */
  async open(model: ReadModel, generation: number): Promise<Track> {
    const { pool, fence, statesMax } = this.#options
    const table = tableOf(model, generation)
    await fenced(pool, fence, (connection) => begin(connection, table))
    const documents = (ids: readonly string[]) => this.#documents(table, ids)
    const fold = model.kind === 'documents' ? new DocumentFold(model, documents, statesMax) : undefined
    const track: Track = { model, generation, table, fold, parked: new Set(), position: 0, isUnsure: true }
    await this.#find(track)
    return track
  }

  /** Makes what the table of a read model lacks while it is filled for the first time. */
  async finish({ model, table }: Track): Promise<void> {
    const { pool, fence } = this.#options
    await fenced(pool, fence, async (connection) => {
      await connection.query(`set local maintenance_work_mem = '256MB'`)
      const lacking = [...createIndexes(model, table), ...createTotals(model, table)]
      for (const statement of lacking) await connection.query(statement)
    })
  }

  /** Reads what memory cannot tell: how far a read model has come, and which of its streams are set aside. */
  async #find(track: Track): Promise<void> {
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
    track.isUnsure = false
  }

  /**
   * Applies one batch to tracks that may have seen a part of it, and moves their checkpoints to `through`.
   */
  async apply(tracks: readonly Track[], events: readonly StoredEvent[], through: number): Promise<void> {
    for (const track of tracks) if (track.isUnsure) await this.#find(track)
    const behind = tracks.filter(({ position }) => position < through)
    if (behind.length === 0) return
    const recordedOnce = this.#recordedOnce()
    const { pool, fence } = this.#options
    try {
      await fenced(pool, fence, async (connection) => {
        await connection.query(planByKey)
        for (const track of behind) await this.#applyTo(track, events, { connection, recordedOnce })
        await moveCheckpoints(connection, behind, through)
      })
    } catch (error) {
      for (const track of behind) track.isUnsure = true
      throw error
    }
    for (const track of behind) track.position = through
  }

  async #applyTo(
    track: Track,
    events: readonly StoredEvent[],
    { connection, recordedOnce }: Batch,
  ): Promise<void> {
    const relevant = relevantTo(track, events)
    if (relevant.length === 0) return
    const changes = new TableChanges(track.table, writingOn(connection))
    await track.fold?.prepare(relevant)
    for (const event of relevant) {
      if (track.parked.has(event.stream)) continue
      try {
        for (const change of changesOf(track, recordedOnce(event))) await changes.apply(change)
      } catch (error) {
        await this.#park(track, event, { error, connection })
      }
    }
    await changes.flush()
  }

  /** A poisoned event parks its stream, not the projector: its later events wait, all other streams go on. */
  async #park(
    track: Track,
    event: StoredEvent,
    { error, connection }: { error: unknown; connection: pg.ClientBase },
  ): Promise<void> {
    const { stream, revision, position, id, type } = event
    this.#options.log.error({ consumer: track.table.name, stream, revision, type, error }, 'parked')
    await connection.query(
      `insert into parked (consumer, stream, revision, position, event_id, type, error) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (consumer, stream, revision) do update set error = excluded.error`,
      [track.table.name, stream, revision, position, id, type, String(error)],
    )
    track.parked.add(stream)
  }

  /** Brings a parked stream up to its read model's checkpoint; throws when its event is still poisoned. */
  async unpark(track: Track, stream: string): Promise<void> {
    const { pool, store, fence } = this.#options
    const { rows } = await pool.query<{ revision: number | null }>(
      'select min(revision) as revision from parked where consumer = $1 and stream = $2',
      [track.table.name, stream],
    )
    const from = rows[0]?.revision
    if (from == null) return
    const missed = (await store.readStream(stream, from)).filter(({ position }) => position <= track.position)
    const recordedOnce = this.#recordedOnce()
    track.fold?.clear()
    await track.fold?.prepare(missed)
    // Until it is surely done, its outcome is as unknown as that of any other write.
    track.isUnsure = true
    await fenced(pool, fence, async (connection) => {
      const changes = new TableChanges(track.table, writingOn(connection))
      for (const event of missed)
        for (const change of changesOf(track, recordedOnce(event))) await changes.apply(change)
      await changes.flush()
      await connection.query('delete from parked where consumer = $1 and stream = $2', [
        track.table.name,
        stream,
      ])
    })
    track.parked.delete(stream)
    track.isUnsure = false
  }

  async #documents(table: Table, ids: readonly string[]): Promise<readonly StoredDocument[]> {
    const { rows } = await this.#options.pool.query<StoredDocument>(
      `select id, merchant, livemode, created, created_at, revision, state from ${table.name} where id = any($1)`,
      [ids],
    )
    return rows
  }

  /** Several read models follow the same event; it is decoded once. */
  #recordedOnce(): (event: StoredEvent) => Recorded {
    const seen = new Map<StoredEvent, Recorded>()
    return (event) => {
      let known = seen.get(event)
      if (!known) {
        const decider = this.#deciders.get(categoryOf(event))
        if (!decider) throw new Error(`nobody knows the category of ${event.stream}`)
        seen.set(event, (known = recorded(decider, event)))
      }
      return known
    }
  }
}

async function begin(connection: pg.ClientBase, table: Table): Promise<void> {
  await connection.query(createTable(table))
  const text = 'insert into checkpoints (name, position) values ($1, 0) on conflict do nothing'
  await connection.query(text, [table.name])
}

/** Moves them from where this batch began: one that has moved meanwhile has seen the batch already. */
async function moveCheckpoints(
  connection: pg.ClientBase,
  tracks: readonly Track[],
  through: number,
): Promise<void> {
  const text = `
    update checkpoints set position = $3, updated_at = now()
    from unnest($1::text[], $2::bigint[]) as known (name, position)
    where checkpoints.name = known.name and checkpoints.position = known.position`
  const names = tracks.map(({ table }) => table.name)
  const values = [names, tracks.map(({ position }) => position), through]
  const { rowCount } = await connection.query(prepared(text, values))
  if (rowCount !== tracks.length) throw new Error('these read models have been moved by somebody else')
}

interface Batch {
  readonly connection: pg.ClientBase
  readonly recordedOnce: (event: StoredEvent) => Recorded
}

function categoryOf({ stream }: StoredEvent): string {
  return stream.slice(0, stream.indexOf('-'))
}

/** What a track has not seen, may see and follows. Each is asked about each event: it allocates nothing. */
function relevantTo(
  { model, parked, position }: Track,
  events: readonly StoredEvent[],
): readonly StoredEvent[] {
  const follows = followsOf(model)
  return events.filter((event) => event.position > position && follows(event) && !parked.has(event.stream))
}

function followsOf(model: ReadModel): (event: StoredEvent) => boolean {
  if (model.kind === 'projection') return ({ type }) => type in model.on
  const prefix = streamName(model.decider.category, '')
  return ({ stream }) => stream.startsWith(prefix)
}

function changesOf({ model, fold }: Track, event: Recorded) {
  if (model.kind === 'projection') return model.on[event.type]!(event as Recorded<never>)
  const row = fold!.apply(event)
  if (!row) return []
  return [{ put: row, ...(event.revision === 0 && { isNew: true as const }) }]
}

function writingOn(connection: pg.ClientBase): Writing {
  return {
    run: async (statement, rows) => {
      await connection.query(prepared(statement, [JSON.stringify(rows)]))
    },
    copy: (table, rows) => copyRows(connection, table, rows),
  }
}
