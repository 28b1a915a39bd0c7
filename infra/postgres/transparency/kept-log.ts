import type pg from 'pg'
import { hashBytes } from '../../transparency/hashing.ts'
import type {
  PublishedBundle,
  PublishedCheckpoint,
  PublishedCosignature,
  PublishedLog,
  PublishedTile,
} from '../../transparency/published-log.ts'
import { tileWidth } from '../../transparency/tiles.ts'
import { inReadTransaction } from '../client/read-transaction.ts'

export interface KeptLogOptions {
  readonly pool: pg.Pool
  readonly verifierKeys: readonly string[]
  /** Number of leaves whose tiles, bundles and checkpoints are left out. */
  readonly from?: number
}

interface Edge {
  readonly log: PublishedLog
  /** Log position of the event of the last leaf. */
  readonly position: number
}

const rowsPerPage = 100

/** What the notary has written, up to the newest checkpoint of this moment; `undefined` without one. */
export function keptLog({ pool, verifierKeys, from = 0 }: KeptLogOptions): Promise<Edge | undefined> {
  return inReadTransaction(pool, async (moment) => {
    const [newest] = await moment.all<{ readonly size: number; readonly position: number }>(
      'select size, position from log_checkpoints order by size desc limit 1',
    )
    if (!newest) return undefined
    const { size, position } = newest
    const tiles = new Map<string, PublishedTile>()
    for await (const rows of moment.batches<TileRow>(tilesText, [from]))
      for (const { level, index, count, digest } of rows)
        tiles.set(`${level}/${index}`, { hashes: count, digest })
    const log: PublishedLog = {
      verifierKeys,
      tiles,
      size,
      checkpoints: () => checkpointsOf(pool, from, size),
      cosignatures: () => cosignaturesOf(pool, from, size),
      bundles: () => bundlesOf(pool, from, size),
    }
    return { log, position }
  })
}

/** Number of leaves whose commitments are kept, with or without a checkpoint over them. */
export async function leavesKept(pool: pg.Pool): Promise<number> {
  const text = `select coalesce(sum(length(commitments)) / ${hashBytes}, 0)::float8 as leaves from log_bundles`
  const { rows } = await pool.query<{ leaves: number }>(text)
  return rows[0]!.leaves
}

interface TileRow {
  readonly level: number
  readonly index: number
  readonly count: number
  readonly digest: Buffer
}

/** Those that are not full before this leaf. PostgreSQL hashes them, so that they need not be fetched. */
const tilesText = `
  select level, index, length(hashes) / ${hashBytes} as count, sha256(hashes) as digest
  from log_tiles where index >= floor($1::numeric / ${tileWidth}::numeric ^ (level + 1))`

const checkpointsText = `
  select size, note, root, position from log_checkpoints
  where size > $1 and size <= $2 order by size limit $3`

async function* checkpointsOf(
  pool: pg.Pool,
  from: number,
  size: number,
): AsyncGenerator<PublishedCheckpoint> {
  for (let after = from; after < size;) {
    const { rows } = await pool.query<PublishedCheckpoint>(checkpointsText, [after, size, rowsPerPage])
    yield* rows
    after = rows.at(-1)?.size ?? size
  }
}

const cosignaturesText = `
  select size, witness, line from log_cosignatures
  where (size, witness) > ($1, $2) and size <= $3 order by size, witness limit $4`

async function* cosignaturesOf(pool: pg.Pool, from: number, size: number) {
  // Behind all witnesses of that size, of which there are none by this name.
  for (let after: Pick<PublishedCosignature, 'size' | 'witness'> = { size: from + 1, witness: '' }; ;) {
    const values = [after.size, after.witness, size, rowsPerPage]
    const { rows } = await pool.query<PublishedCosignature>(cosignaturesText, values)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = last
  }
}

/** The first position is kept twice, and a leaf is looked up by both. */
const bundlesText = `
  select index, commitments, case when first_position = positions[1] then positions
    else array_prepend(0::bigint, positions[2:]) end::float8[] as positions
  from log_bundles where index >= $1 and index < $2 order by index limit $3`

/** The last bundle may have grown since: what is beyond the size is left out. */
async function* bundlesOf(pool: pg.Pool, from: number, size: number): AsyncGenerator<PublishedBundle> {
  const end = Math.ceil(size / tileWidth)
  for (let next = Math.floor(from / tileWidth); next < end;) {
    const { rows } = await pool.query<PublishedBundle>(bundlesText, [next, end, rowsPerPage])
    for (const { index, commitments, positions } of rows) {
      const count = size - index * tileWidth
      const part = commitments.subarray(0, count * hashBytes)
      yield { index, commitments: part, ...(positions && { positions: positions.slice(0, count) }) }
    }
    next = rows.length === 0 ? end : rows.at(-1)!.index + 1
  }
}
