import type pg from 'pg'
import type { ReadModel } from '../../../packages/kernel/projection.ts'
import type { ReadTransaction } from '../client/read-transaction.ts'
import { readSchema, tableOf, type Table } from './tables.ts'

/** What is behind a read model's name. */
export interface PublishedTable {
  readonly model: ReadModel
  /** As found in the database: if it differs from the model's, other code has folded the table. */
  readonly version: number
  readonly generation: number
  /** A requested generation that is not published yet. */
  readonly wanted: number
  /** All events up to here are in the table. */
  readonly position: number
  readonly updatedAt: string
  readonly table: Table
  /** Parked streams, each with the first revision that is missing from the table. */
  readonly parked: ReadonlyMap<string, number>
}

interface Shown {
  readonly name: string
  readonly version: number
  readonly generation: number
  readonly wanted: number
  readonly position: number | null
  readonly updated_at: string
}

/** Names as `tableOf` makes them, of the published version. */
const shownStatement = `
  select published.name, published.version, published.generation, published.wanted,
    checkpoint.position, checkpoint.updated_at
  from ${readSchema}.published
  left join checkpoints checkpoint
    on checkpoint.name =
      '${readSchema}.' || published.name || '_v' || published.version || '_' || published.generation`

export async function publishedTables(
  moment: ReadTransaction,
  models: readonly ReadModel[],
): Promise<readonly PublishedTable[]> {
  const shown = new Map((await moment.all<Shown>(shownStatement)).map((row) => [row.name, row]))
  const parked = await parkedIn(moment)
  return models.map((model) => {
    const row = shown.get(model.name)
    if (!row) throw new Error(`the read model ${model.name} was never published`)
    const { version, generation, wanted, position, updated_at: updatedAt } = row
    const table = tableOf({ ...model, version }, generation)
    const streams = parked.get(table.name) ?? new Map<string, number>()
    return { model, version, generation, wanted, position: position ?? 0, updatedAt, table, parked: streams }
  })
}

async function parkedIn(moment: ReadTransaction): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const rows = await moment.all<{ consumer: string; stream: string; revision: number }>(
    'select consumer, stream, min(revision) as revision from parked group by consumer, stream',
  )
  const parked = new Map<string, Map<string, number>>()
  for (const { consumer, stream, revision } of rows) {
    parked.set(consumer, (parked.get(consumer) ?? new Map<string, number>()).set(stream, revision))
  }
  return parked
}

export async function countRows(moment: ReadTransaction, tables: readonly PublishedTable[]): Promise<number> {
  let total = 0
  for (const { table } of tables) {
    const [row] = await moment.all<{ count: number }>(`select count(*) as count from ${table.name}`)
    total += row?.count ?? 0
  }
  return total
}

/** Checkpoint of a table that is being built beside the published one; 0 before it is begun. */
export async function builtUpTo(pool: pg.Pool, model: ReadModel, generation: number): Promise<number> {
  const { rows } = await pool.query<{ position: number }>(
    'select position from checkpoints where name = $1',
    [tableOf(model, generation).name],
  )
  return rows[0]?.position ?? 0
}
