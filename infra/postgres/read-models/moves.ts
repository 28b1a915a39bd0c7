import type { FencedStatement } from '../consumers/fence.ts'
import type { PartWrite } from './projection-batch.ts'

/**
 * Moves all cursors of a batch, or none: one that is no longer where the batch began has seen the batch
 * already.
 */
export function moving(parts: readonly PartWrite[], through: number): FencedStatement {
  const tracks = parts.map(({ track }) => track)
  const values = [tracks.map(({ table }) => table.name), tracks.map(({ position }) => position), through]
  return { named: [ready], text: move, values }
}

/**
 * The same with all that is written, where that is one statement or none: without the round trips of a
 * transaction. Where the cursors do not move, nothing is written.
 */
export function movingWith(parts: readonly PartWrite[], through: number): FencedStatement | undefined {
  if (parts.some(({ poisoned }) => poisoned.length > 0)) return undefined
  const [only, ...others] = parts.flatMap(({ writes }) => writes)
  const moved = moving(parts, through)
  if (!only) return moved
  if (others.length > 0 || !('statement' in only) || only.statement.looksUp) return undefined
  const written = `written as (${only.statement.text(`case when ${areReady} then $5::json else '[]' end`)})`
  return { ...moved, named: [ready, written], values: [...moved.values, only.rows()] }
}

const ready = `ready as materialized (
  select checkpoints.name
  from held, checkpoints, unnest($2::text[], $3::bigint[]) as known (name, position)
  where held.goes_on and checkpoints.name = known.name and checkpoints.position = known.position
  for update of checkpoints)`
const areReady = `(select count(*) = cardinality($2::text[]) from ready)`

const move = `
  update checkpoints set position = $4::bigint, updated_at = now()
  from ready where ${areReady} and checkpoints.name = ready.name`
