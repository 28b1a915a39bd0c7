import type { SavedHistory } from '../../infra/backup/read.ts'
import { hashesOf } from '../../infra/transparency/tiles.ts'
import { noteVerifier } from '../../infra/transparency/signed-note.ts'
import type { PublishedLog } from './tree-audit.ts'

interface Rows {
  readonly log_keys: readonly { readonly id: number; readonly verifier_key: string }[]
  readonly log_checkpoints: readonly { readonly size: number; readonly note: string }[]
  readonly log_bundles: readonly { readonly index: number; readonly commitments: string }[]
}

/** What a backup holds of the tree, by growing size. Tiles follow from the leaves, and are not read. */
export async function publishedLog({ bookkeeping }: SavedHistory): Promise<PublishedLog> {
  const rows = await rowsOf(bookkeeping)
  const bundles = rows.log_bundles.toSorted((one, other) => one.index - other.index)
  return {
    verifiers: rows.log_keys
      .toSorted((one, other) => one.id - other.id)
      .map(({ verifier_key }) => noteVerifier(verifier_key)),
    checkpoints: rows.log_checkpoints.toSorted((one, other) => one.size - other.size).map(({ note }) => note),
    commitments: bundles.flatMap(({ commitments }) =>
      hashesOf(Buffer.from(commitments.slice('\\x'.length), 'hex')),
    ),
  }
}

async function rowsOf(bookkeeping: SavedHistory['bookkeeping']): Promise<Rows> {
  const found: Record<keyof Rows, unknown[]> = { log_keys: [], log_checkpoints: [], log_bundles: [] }
  for await (const { table, rows } of bookkeeping()) {
    if (Object.hasOwn(found, table)) for (const row of rows) found[table as keyof Rows].push(JSON.parse(row))
  }
  // The tables are those of our own migration; a test makes a backup and reads it.
  return found as unknown as Rows
}
