import { DamagedBackupError, type SavedHistory } from '../../infra/backup/read.ts'
import { hashBytes, sha256 } from '../../infra/transparency/hashing.ts'
import type {
  PublishedBundle,
  PublishedCheckpoint,
  PublishedCosignature,
  PublishedLog,
  PublishedTile,
} from '../../infra/transparency/published-log.ts'

type Bookkeeping = SavedHistory['bookkeeping']

const textOfBytes = /^\\x(?:[0-9a-f]{2})*$/

/** What a backup holds of the tree. Its tables are scanned once first, so that they can be streamed later. */
export async function publishedLog({ bookkeeping }: SavedHistory): Promise<PublishedLog> {
  const keys: KeyRow[] = []
  const tiles = new Map<string, PublishedTile>()
  const bundles = new RowOrder()
  const checkpoints = new RowOrder()
  const cosignatures = new RowOrder()
  let size = 0
  for await (const { table, rows } of bookkeeping()) {
    if (table === 'log_keys') for (const row of rows) keys.push(rowIn<KeyRow>(table, row))
    if (table === 'log_tiles') for (const row of rows) keepTile(tiles, rowIn<TileRow>(table, row))
    if (table === 'log_checkpoints')
      for (const row of rows) checkpoints.see(rowIn<CheckpointRow>(table, row).size)
    if (table === 'log_cosignatures') for (const row of rows) cosignatures.see(cosignatureOf(row).size)
    if (table !== 'log_bundles') continue
    for (const row of rows) {
      const bundle = bundleOf(row)
      bundles.see(bundle.index)
      size += bundle.commitments.length / hashBytes
    }
  }
  return {
    verifierKeys: keys.toSorted((one, other) => one.id - other.id).map(({ verifier_key }) => verifier_key),
    tiles,
    size,
    checkpoints: () =>
      checkpoints.restored(rowsOf(bookkeeping, 'log_checkpoints', checkpointOf), ({ size }) => size),
    cosignatures: () =>
      cosignatures.restored(rowsOf(bookkeeping, 'log_cosignatures', cosignatureOf), ({ size }) => size),
    bundles: () => bundles.restored(rowsOf(bookkeeping, 'log_bundles', bundleOf), ({ index }) => index),
  }
}

interface KeyRow {
  readonly id: number
  readonly verifier_key: string
}

interface TileRow {
  readonly level: number
  readonly index: number
  readonly hashes: string
}

/** Whoever writes a backup by docs/audit.md leaves out what only we make use of. */
interface CheckpointRow {
  readonly size: number
  readonly note: string
  readonly root?: string
  readonly position?: number
}

interface BundleRow {
  readonly index: number
  readonly commitments: string
  readonly positions?: readonly number[]
  readonly first_position?: number
}

/** What each row of the tree has at least. */
const members = {
  log_keys: { id: 'number', verifier_key: 'string' },
  log_tiles: { level: 'number', index: 'number', hashes: 'string' },
  log_checkpoints: { size: 'number', note: 'string' },
  log_cosignatures: { size: 'number', witness: 'string', line: 'string' },
  log_bundles: { index: 'number', commitments: 'string' },
} as const

/** Somebody may have written it who is not us. */
function rowIn<Row>(table: keyof typeof members, text: string): Row {
  const row = JSON.parse(text) as Readonly<Record<string, unknown>>
  const isWhole = Object.entries(members[table]).every(([name, type]) => typeof row[name] === type)
  if (!isWhole) throw noRow(table)
  return row as Row
}

function noRow(table: string): DamagedBackupError {
  return new DamagedBackupError(`a row of bookkeeping.ndjson.gz is no row of ${table}`)
}

function cosignatureOf(row: string): PublishedCosignature {
  return rowIn<PublishedCosignature>('log_cosignatures', row)
}

function keepTile(tiles: Map<string, PublishedTile>, { level, index, hashes }: TileRow): void {
  const bytes = bytesOf(hashes)
  tiles.set(`${level}/${index}`, { hashes: bytes.length / hashBytes, digest: sha256(bytes) })
}

function checkpointOf(row: string): PublishedCheckpoint {
  const { size, note, root, position } = rowIn<CheckpointRow>('log_checkpoints', row)
  return {
    size,
    note,
    ...(root !== undefined && { root: bytesOf(root) }),
    ...(position !== undefined && { position }),
  }
}

function bundleOf(row: string): PublishedBundle {
  const bundle = rowIn<BundleRow>('log_bundles', row)
  const { index, commitments, positions, first_position: first } = bundle
  if (positions !== undefined && !Array.isArray(positions)) throw noRow('log_bundles')
  if (!positions) return { index, commitments: bytesOf(commitments) }
  // It is kept twice, and a leaf is looked up by both.
  const kept = first === positions[0] ? positions : [0, ...positions.slice(1)]
  return { index, commitments: bytesOf(commitments), positions: kept }
}

/** As PostgreSQL writes bytes into JSON. What is written otherwise was not written by us. */
function bytesOf(text: string): Buffer {
  return textOfBytes.test(text) ? Buffer.from(text.slice('\\x'.length), 'hex') : Buffer.alloc(0)
}

async function* rowsOf<Row>(
  bookkeeping: Bookkeeping,
  wanted: string,
  read: (row: string) => Row,
): AsyncGenerator<Row> {
  for await (const { table, rows } of bookkeeping()) if (table === wanted) yield* rows.map(read)
}

/** Backups hold their rows in order by now; of an older one the rows are sorted in memory. */
class RowOrder {
  #last = -1
  #isKept = true

  see(key: number): void {
    this.#isKept &&= key >= this.#last
    this.#last = key
  }

  async *restored<Row>(rows: AsyncIterable<Row>, keyOf: (row: Row) => number): AsyncGenerator<Row> {
    if (this.#isKept) return yield* rows
    const all: Row[] = []
    for await (const row of rows) all.push(row)
    yield* all.sort((one, other) => keyOf(one) - keyOf(other))
  }
}
