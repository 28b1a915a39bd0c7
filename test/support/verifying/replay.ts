import { Projector } from '../../../infra/postgres/read-models/projector.ts'
import { publications } from '../../../infra/postgres/read-models/publication.ts'
import { tableOf } from '../../../infra/postgres/read-models/tables.ts'
import type { ReadModel } from '../../../packages/kernel/projection.ts'
import { deciders } from '../../../packages/domain/index.ts'
import type { Runtime } from '../../../services/composition/dependencies.ts'

/** A generation that no rebuild reaches. */
const generation = 1_000_000
const batchSize = 5_000

/** Rows in which a read model differs from what the whole log makes of it, by read model; none when equal. */
export async function replayDifferences(
  { postgres: { pool }, dependencies }: Runtime,
  models: readonly ReadModel[],
) {
  const { store, log } = dependencies
  const projector = new Projector({ pool, store, deciders, log })
  const tracks = await Promise.all(models.map((model) => projector.open(model, generation)))
  for (let after = 0; ;) {
    const events = await store.readAll(after, batchSize)
    if (events.length === 0) break
    after = events.at(-1)!.position
    await projector.apply(tracks, events, after)
  }
  const shown = await publications(pool)
  const differences: Record<string, readonly object[]> = {}
  for (const { model, table } of tracks) {
    const live = tableOf(model, shown.get(model.name)!.generation).name
    const { rows } = await pool.query<object>(`
      (select 'shown' as side, row from (${rowsOf(live)} except ${rowsOf(table.name)}) r limit 3) union all
      (select 'replayed' as side, row from (${rowsOf(table.name)} except ${rowsOf(live)}) r limit 3)`)
    if (rows.length > 0) differences[model.name] = rows
    await pool.query(`drop table ${table.name}`)
    await pool.query('delete from checkpoints where name = $1', [table.name])
  }
  return differences
}

/** Comparable rows, in any key order. */
function rowsOf(table: string): string {
  return `select to_jsonb(r) as row from ${table} r`
}
