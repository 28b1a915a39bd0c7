import type pg from 'pg'
import { fenced, type Fence } from '../consumers/fence.ts'
import { hashBytes } from '../../transparency/hashing.ts'
import type { NewLeaves } from '../../transparency/leaves.ts'
import { hashesOf, hashesOnLevel, tileWidth, type TileName } from '../../transparency/tiles.ts'
import { GrowingTree, type Tile } from '../../transparency/tree.ts'

/** A tree, and the place in the log that it has reached. */
export interface OpenTree {
  readonly tree: GrowingTree
  /** Position of its last leaf's event. */
  readonly position: number
}

export interface TreeGrowth {
  readonly leaves: NewLeaves
  readonly tiles: readonly Tile[]
  readonly checkpoint: KeptCheckpoint
}

export interface KeptCheckpoint {
  readonly size: number
  readonly root: Buffer
  /** The signed note. */
  readonly note: string
  /** Position of the last leaf's event. */
  readonly position: number
}

/** Writes the tree of the log. Tiles, leaves and the checkpoint over them are one transaction. */
export class TreeStore {
  readonly #pool: pg.Pool
  readonly #fence: Fence | undefined

  constructor(pool: pg.Pool, fence?: Fence) {
    this.#pool = pool
    this.#fence = fence
  }

  /** As it was at a checkpoint; left out: the newest. */
  async open(at?: Pick<KeptCheckpoint, 'size' | 'position'>): Promise<OpenTree> {
    const last = at ?? (await lastCheckpoint(this.#pool))
    if (!last) return { tree: new GrowingTree(), position: 0 }
    const edge: Buffer[] = []
    for (let level = 0; hashesOnLevel(level, last.size) > 0; level++) {
      const width = hashesOnLevel(level, last.size) % tileWidth
      const index = Math.floor(hashesOnLevel(level, last.size) / tileWidth)
      edge.push(width === 0 ? Buffer.alloc(0) : await this.#partial({ level, index, width }))
    }
    return { tree: new GrowingTree(last.size, edge), position: last.position }
  }

  async #partial(name: TileName): Promise<Buffer> {
    const tile = await readTile(this.#pool, name)
    if (!tile) throw new Error(`the tree of the log has no tile ${name.level}/${name.index}`)
    return tile
  }

  async grow({ leaves, tiles, checkpoint }: TreeGrowth): Promise<void> {
    const { size, root, note, position } = checkpoint
    const before = size - leaves.positions.length
    const bundles = bundleColumns(leaves, before)
    await fenced(this.#pool, this.#fence, async (connection) => {
      await assertStillThere(connection, before)
      await connection.query(appendToBundles, bundles)
      await connection.query(upsertTiles, tileColumns(tiles))
      await connection.query(insertCheckpoint, [size, root, note, position])
    })
  }
}

/**
 * One write after the other, each on top of what it grew from: one whose answer was lost may still arrive,
 * when its leaves have been written again.
 */
async function assertStillThere(connection: pg.ClientBase, size: number): Promise<void> {
  await connection.query('lock table log_checkpoints in share row exclusive mode')
  const text = 'select coalesce(max(size), 0)::float8 as size from log_checkpoints'
  const { rows } = await connection.query<{ size: number }>(text)
  const found = rows[0]!.size
  if (found !== size) throw new Error(`the tree of the log has ${found} leaves, and ${size} were expected`)
}

/**
 * Leaves per row: as many as in a tile. Rows are parts of one column each, of which the driver sends bytes as
 * they are: as JSON or as an array they take several times as long on both sides.
 */
function bundleColumns({ positions, commitments }: NewLeaves, first: number): unknown[] {
  const firstIndex = Math.floor(first / tileWidth)
  const count = Math.ceil((first + positions.length) / tileWidth) - firstIndex
  const indexes = Array.from({ length: count }, (_, place) => firstIndex + place)
  const starts = indexes.map((index) => Math.max(0, index * tileWidth - first))
  const widths = starts.map((start, place) => (starts[place + 1] ?? positions.length) - start)
  return [indexes, starts, widths, `{${positions.join()}}`, commitments]
}

const appendToBundles = `
  insert into log_bundles as kept (index, first_position, positions, commitments)
  select index, positions[1], positions, commitments
  from unnest($1::bigint[], $2::integer[], $3::integer[]) as part (index, start, width)
  cross join lateral (
    select ($4::bigint[])[start + 1 : start + width] as positions,
      substring($5::bytea from start * ${hashBytes} + 1 for width * ${hashBytes}) as commitments
  ) as added
  on conflict (index) do update set
    positions = kept.positions || excluded.positions, commitments = kept.commitments || excluded.commitments`

function tileColumns(tiles: readonly Tile[]): unknown[] {
  let next = 0
  const starts = tiles.map(({ hashes }) => (next += hashes.length) - hashes.length)
  const columns = [tiles.map(({ level }) => level), tiles.map(({ index }) => index), starts]
  const lengths = tiles.map(({ hashes }) => hashes.length)
  return [...columns, lengths, Buffer.concat(tiles.map(({ hashes }) => hashes))]
}

const upsertTiles = `
  insert into log_tiles (level, index, hashes)
  select level, index, substring($5::bytea from start + 1 for length)
  from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::integer[]) as part (level, index, start, length)
  on conflict (level, index) do update set hashes = excluded.hashes`

const insertCheckpoint = 'insert into log_checkpoints (size, root, note, position) values ($1, $2, $3, $4)'

export async function lastCheckpoint(pool: pg.Pool): Promise<KeptCheckpoint | undefined> {
  const { rows } = await pool.query<KeptCheckpoint>(
    'select size, root, note, position from log_checkpoints order by size desc limit 1',
  )
  return rows[0]
}

/**
 * The checkpoint that others are shown: of the last seconds the one that most witnesses have cosigned. The
 * newest one never is while events come: their answers take longer than the next checkpoint.
 */
export async function shownCheckpoint(pool: pg.Pool): Promise<KeptCheckpoint | undefined> {
  const { rows } = await pool.query<KeptCheckpoint>({ name: 'shown checkpoint', text: shownCheckpointText })
  return rows[0]
}

/** More than are written in so many seconds. */
const shownCheckpointText = `
  select size, root, note, position from (
    select size, root, note, position, case when created_at > now() - interval '10 seconds'
      then (select count(*) from log_cosignatures own where own.size = newest.size) else 0 end as witnesses
    from log_checkpoints newest order by size desc limit 100
  ) as recent
  order by witnesses desc, size desc limit 1`

/** Witnesses' cosignatures of a checkpoint: lines of signatures. */
export async function cosignatures(pool: pg.Pool, size: number): Promise<readonly string[]> {
  const { rows } = await pool.query<{ line: string }>(
    'select line from log_cosignatures where size = $1 order by witness',
    [size],
  )
  return rows.map(({ line }) => line)
}

/** A partial tile is a prefix of the tile it has grown into; `undefined` when it does not exist. */
export async function readTile(
  pool: pg.Pool,
  { level, index, width }: TileName,
): Promise<Buffer | undefined> {
  const { rows } = await pool.query<{ hashes: Buffer }>(
    'select substring(hashes for $3) as hashes from log_tiles where level = $1 and index = $2',
    [level, index, width * hashBytes],
  )
  return rows[0]?.hashes.length === width * hashBytes ? rows[0].hashes : undefined
}

/** The commitments of a bundle or of its prefix; `undefined` when they do not all exist. */
export async function readLeaves(
  pool: pg.Pool,
  { index, width }: Pick<TileName, 'index' | 'width'>,
): Promise<readonly Buffer[] | undefined> {
  const { rows } = await pool.query<{ commitments: Buffer }>(
    'select substring(commitments for $2) as commitments from log_bundles where index = $1',
    [index, width * hashBytes],
  )
  const leaves = rows[0] ? hashesOf(rows[0].commitments) : []
  return leaves.length === width ? leaves : undefined
}

/** Events at consecutive log positions, which have consecutive leaves. */
export interface LeafRun {
  readonly first: number
  readonly last: number
  /** Of the first. */
  readonly leaf: number
}

/** All of them that the bundle of each log position tells of; `undefined` while it has no leaf. */
export async function leafRunsAt(
  pool: pg.Pool,
  positions: readonly number[],
): Promise<readonly (LeafRun | undefined)[]> {
  const { rows } = await pool.query<FoundBundle>({
    name: 'leaves at',
    text: bundlesAtText,
    values: [positions],
  })
  return rows.map((bundle, index) => runOf(positions[index]!, bundle))
}

/** Nothing where no bundle begins before the position. */
interface FoundBundle {
  readonly leaf: number | null
  readonly first: number
  readonly last: number
  readonly size: number
  /** In a bundle whose positions have gaps; counted from 1. */
  readonly place: number | null
}

function runOf(position: number, { leaf, first, last, size, place }: FoundBundle): LeafRun | undefined {
  if (leaf === null) return undefined
  if (last - first === size - 1) return position <= last ? { first, last, leaf } : undefined
  return place === null ? undefined : { first: position, last: position, leaf: leaf + place - 1 }
}

const bundlesAtText = `
  select bundle.leaf, bundle.first, bundle.last, bundle.size,
    case when bundle.last - bundle.first >= bundle.size then array_position(bundle.positions, asked.position) end
      as place
  from unnest($1::bigint[]) with ordinality as asked (position, number)
  left join lateral (
    select index * ${tileWidth} as leaf, positions, cardinality(positions) as size,
      positions[1]::float8 as first, positions[cardinality(positions)]::float8 as last
    from log_bundles
    where first_position <= asked.position order by first_position desc limit 1
  ) as bundle on true
  order by asked.number`
