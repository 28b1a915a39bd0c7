import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseCheckpoint } from '../../infra/transparency/checkpoint.ts'
import { leafHash } from '../../infra/transparency/hashing.ts'
import { isConsistent, isIncluded, TileProofs } from '../../infra/transparency/proofs.ts'
import { noteVerifier, parseNote, verifiedSigners, writeNote } from '../../infra/transparency/signed-note.ts'
import { tilePath } from '../../infra/transparency/tiles.ts'
import { GrowingTree } from '../../infra/transparency/tree.ts'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

/** Published by others; each file says where. */
const vectors = <Content>(name: string) =>
  JSON.parse(readFileSync(join(root, 'test/fixtures/vectors', name), 'utf8')) as Content

interface Trees {
  readonly leaves: readonly string[]
  readonly roots: readonly string[]
  readonly inclusions: readonly {
    readonly leaf: number
    readonly size: number
    readonly proof: readonly string[]
  }[]
  readonly consistencies: readonly {
    readonly older: number
    readonly newer: number
    readonly proof: readonly string[]
  }[]
}

const trees = vectors<Trees>('rfc6962.json')
const bytes = (hex: string) => Buffer.from(hex, 'hex')
const leaves = trees.leaves.map((leaf) => leafHash(bytes(leaf)))
const roots = trees.roots.map(bytes)

const tiles = new Map<string, Buffer>()
const tree = new GrowingTree()

t.test('roots of RFC 6962, of no leaves to eight', async (t) => {
  const grown = [tree.root()]
  for (const leaf of leaves) {
    tree.add(leaf)
    for (const { hashes, ...name } of tree.takeTiles()) tiles.set(tilePath(name), hashes)
    grown.push(tree.root())
  }
  t.equal(grown.length, 9)
  t.strictSame(grown, roots)
})

const proofsOf = (size: number) => new TileProofs(size, async (name) => tiles.get(tilePath(name))!)
const hex = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'))

t.test('inclusion proofs of RFC 6962 are made alike, and verified', async (t) => {
  await lawOver(t, trees.inclusions, async ({ leaf, size, proof }) => {
    t.strictSame(hex(await proofsOf(size).inclusion(leaf - 1)), proof)
    const claim = { index: leaf - 1, size, leaf: leaves[leaf - 1]!, root: roots[size]! }
    t.ok(isIncluded({ ...claim, proof: proof.map(bytes) }))
    t.notOk(isIncluded({ ...claim, root: roots[0]!, proof: proof.map(bytes) }))
    t.notOk(isIncluded({ ...claim, proof: [...proof.map(bytes), roots[size]!] }), 'trailing root')
  })
})

t.test('consistency proofs of RFC 6962 are made alike, and verified', async (t) => {
  await lawOver(t, trees.consistencies, async ({ older, newer, proof }) => {
    t.strictSame(hex(await proofsOf(newer).consistency(older)), proof)
    const claim = {
      older: { size: older, root: roots[older]! },
      newer: { size: newer, root: roots[newer]! },
    }
    t.ok(isConsistent({ ...claim, proof: proof.map(bytes) }))
    t.notOk(isConsistent({ ...claim, proof: [...proof.map(bytes), roots[newer]!] }), 'trailing root')
    t.notOk(isConsistent({ ...claim, newer: { size: newer, root: roots[0]! }, proof: proof.map(bytes) }))
  })
})

interface Notes {
  readonly notes: readonly {
    readonly source: string
    readonly verifierKey: string
    readonly signer: string
    readonly note: string
    readonly checkpoint?: { readonly origin: string; readonly size: number; readonly root: string }
    /** Of a cosignature. */
    readonly time?: number
  }[]
}

t.test('signed notes, checkpoints and cosignatures of others are verified', async (t) => {
  await lawOver(t, vectors<Notes>('notes.json').notes, (vector) => {
    const { source, note, checkpoint, signer, time = true } = vector
    const verifiers = [noteVerifier(vector.verifierKey)]
    const parsed = parseNote(note)
    t.strictSame([...verifiedSigners(parsed, verifiers)], [[signer, time]], source)
    t.equal(writeNote(parsed), note)
    t.throws(() => verifiedSigners({ ...parsed, text: `${parsed.text}.\n` }, verifiers), /does not hold/)
    if (!checkpoint) return
    const { root, ...rest } = parseCheckpoint(parsed.text)
    t.strictSame({ ...rest, root: root.toString('base64') }, checkpoint)
  })
})
