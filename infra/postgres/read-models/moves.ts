import type { FencedStatement } from '../consumers/fence.ts'
import type { TableWrite } from './changes.ts'
import type { PartWrite } from './projection-batch.ts'

type Part = Pick<PartWrite, 'track' | 'writes'>

/** Moves cursors that are where this batch began: one that has moved meanwhile has seen the batch already. */
export function moving(parts: readonly Part[], through: number): FencedStatement {
  return { text: move, values: valuesOf(parts, through) }
}

/**
 * The same with all that is written, where that is one statement or none: without the round trips of a
 * transaction. It moves all of the cursors, or none and writes nothing.
 */
export function movingWith(parts: readonly Part[], through: number): FencedStatement | undefined {
  const writes = parts.flatMap<TableWrite | undefined>(({ writes }) => writes ?? [undefined])
  const [only] = writes
  if (writes.length === 0) return { with: `${ready},`, text: moveReady, values: valuesOf(parts, through) }
  if (writes.length > 1 || !only || !('statement' in only) || only.statement.looksUp) return undefined
  const written = `written as (${only.statement.text(`case when ${areReady} then $5::json else '[]' end`)})`
  const values = [...valuesOf(parts, through), only.rows()]
  return { with: `${ready}, ${written},`, text: moveReady, values }
}

function valuesOf(parts: readonly Part[], through: number): readonly unknown[] {
  const tracks = parts.map(({ track }) => track)
  return [tracks.map(({ table }) => table.name), tracks.map(({ position }) => position), through]
}

const known = `unnest($2::text[], $3::bigint[]) as known (name, position)`
const isWhereKnown = `
  held.goes_on and checkpoints.name = known.name and checkpoints.position = known.position`

const move = `
  update checkpoints set position = $4::bigint, updated_at = now() from held, ${known} where ${isWhereKnown}`

const ready = `ready as materialized (
  select checkpoints.name from held, checkpoints, ${known} where ${isWhereKnown} for update of checkpoints)`
const areReady = `(select count(*) = cardinality($2::text[]) from ready)`

const moveReady = `
  update checkpoints set position = $4::bigint, updated_at = now()
  from ready where ${areReady} and checkpoints.name = ready.name`
