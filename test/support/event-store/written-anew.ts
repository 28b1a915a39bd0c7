import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { checkpointText } from '../../../infra/transparency/checkpoint.ts'
import { commitmentOf } from '../../../infra/transparency/commitment.ts'
import { leafHash } from '../../../infra/transparency/hashing.ts'
import { writeNote, type NoteSigner } from '../../../infra/transparency/signed-note.ts'
import { GrowingTree } from '../../../infra/transparency/tree.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'

/** A writable event. */
export type Written = { -readonly [Key in keyof StoredEvent]: StoredEvent[Key] }

export interface Anew {
  readonly from: string
  readonly to: string
  /** Whose log it becomes. */
  readonly signer: NoteSigner
  /** Sees each event before it becomes a leaf, with the root over those before it. */
  readonly change: (event: Written, before: { readonly size: number; readonly root: string }) => void
}

/**
 * A backup whose history is written anew by whoever has a key of the log: every event is notarised as it is
 * now, and the tree is signed after each of them.
 */
export function writeAnew({ from, to, signer, change }: Anew): string {
  const lines = gunzipSync(readFileSync(join(from, 'events.ndjson.gz')))
    .toString()
    .trimEnd()
    .split('\n')
  const events = lines.map((line) => JSON.parse(line) as Written)
  const tree = new GrowingTree()
  const rows = [`log_keys ${JSON.stringify({ id: 1, verifier_key: signer.verifierKey })}`]
  const commitments = events.map((event) => {
    change(event, { size: tree.size, root: tree.root().toString('base64') })
    const commitment = commitmentOf(event)
    tree.add(leafHash(commitment))
    const text = checkpointText({ origin: signer.name, size: tree.size, root: tree.root() })
    const note = writeNote({ text, signatures: [signer.sign(text)] })
    rows.push(`log_checkpoints ${JSON.stringify({ size: tree.size, note })}`)
    return commitment
  })
  const hex = (bytes: Buffer) => `\\x${bytes.toString('hex')}`
  for (let index = 0; index * 256 < commitments.length; index++) {
    const bundle = hex(Buffer.concat(commitments.slice(index * 256, index * 256 + 256)))
    rows.push(`log_bundles ${JSON.stringify({ index, commitments: bundle })}`)
  }
  for (const { level, index, hashes } of tree.takeTiles())
    rows.push(`log_tiles ${JSON.stringify({ level, index, hashes: hex(hashes) })}`)
  mkdirSync(to)
  const packed = (all: readonly string[]) => gzipSync(all.map((line) => `${line}\n`).join(''))
  writeFileSync(join(to, 'events.ndjson.gz'), packed(events.map((event) => JSON.stringify(event))))
  writeFileSync(join(to, 'bookkeeping.ndjson.gz'), packed(rows))
  writeFileSync(join(to, 'manifest.json'), readFileSync(join(from, 'manifest.json')))
  return to
}
