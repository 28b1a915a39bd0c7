import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { checkpointText } from '../../infra/transparency/checkpoint.ts'
import { leafHash } from '../../infra/transparency/hashing.ts'
import { TileProofs } from '../../infra/transparency/proofs.ts'
import { noteSigner, writeNote } from '../../infra/transparency/signed-note.ts'
import { tilePath } from '../../infra/transparency/tiles.ts'
import { GrowingTree } from '../../infra/transparency/tree.ts'
import { runGo, withoutGo } from '../support/verifying/go.ts'
import { temporaryDirectory } from '../support/postgres.ts'

const sizes = [1, 2, 255, 256, 257, 1_000, 65_536, 66_000]
const signer = noteSigner('ledger.example/log', createHash('sha256').update('ledger').digest())

const base64 = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('base64'))

/** A log that grew to each of these sizes, as files, with what we claim about it. */
async function writeLog(directory: string): Promise<object> {
  const tree = new GrowingTree()
  const tiles = new Map<string, Buffer>()
  const checkpoints: string[] = []
  for (const size of sizes) {
    while (tree.size < size) tree.add(leafHash(Buffer.from(`leaf ${tree.size}`)))
    for (const { hashes, ...name } of tree.takeTiles()) tiles.set(tilePath(name), hashes)
    const text = checkpointText({ origin: signer.name, size, root: tree.root() })
    checkpoints.push(writeNote({ text, signatures: [signer.sign(text)] }))
  }
  for (const [path, hashes] of tiles) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), hashes)
  }
  const proofsOf = (size: number) => new TileProofs(size, async (name) => tiles.get(tilePath(name))!)
  const indexes = sizes.flatMap((size) => [0, size >> 1, size - 1].map((index) => ({ size, index })))
  const pairs = sizes.flatMap((newer, at) => sizes.slice(0, at).map((older) => ({ older, newer })))
  return {
    verifierKey: signer.verifierKey,
    origin: signer.name,
    checkpoints,
    inclusions: await Promise.all(
      indexes.map(async ({ size, index }) => ({
        size,
        index,
        leaf: Buffer.from(`leaf ${index}`).toString('base64'),
        proof: base64(await proofsOf(size).inclusion(index)),
      })),
    ),
    consistencies: await Promise.all(
      pairs.map(async ({ older, newer }) => ({
        older,
        newer,
        proof: base64(await proofsOf(newer).consistency(older)),
      })),
    ),
  }
}

t.test(
  "Go's sumdb verifies our checkpoints, tiles and proofs, and finds what is changed",
  { skip: withoutGo },
  async (t) => {
    const directory = temporaryDirectory(t)
    const claims = (await writeLog(directory)) as { checkpoints: string[] }
    const verify = (what: object) => {
      writeFileSync(join(directory, 'case.json'), JSON.stringify(what))
      return runGo('.', directory)
    }
    t.match(await verify(claims), /8 checkpoints, 24 inclusions, 28 consistencies hold/)
    const forged = claims.checkpoints.map((text) => text.replace('\n256\n', '\n254\n'))
    await t.rejects(verify({ ...claims, checkpoints: forged }), /invalid signature/)
    const tile = join(directory, 'tile/0/000')
    writeFileSync(tile, Buffer.alloc(8_192))
    await t.rejects(verify(claims), /inconsistent tile/)
  },
)
