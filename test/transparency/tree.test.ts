import t from 'tap'
import { leafHash, nodeHash, rootOver } from '../../infra/transparency/hashing.ts'
import { isConsistent, isIncluded, TileProofs } from '../../infra/transparency/proofs.ts'
import {
  entriesOf,
  entryBundle,
  parseTilePath,
  tilePath,
  widthOf,
  type TileName,
} from '../../infra/transparency/tiles.ts'
import { GrowingTree } from '../../infra/transparency/tree.ts'
import { lawOver } from '../support/law.ts'
import { fc } from '../support/properties.ts'

/** The leaves of RFC 6962's reference implementation, and the roots of trees of one to eight of them. */
const leaves = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
]
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

t.test('roots are those of the reference implementation', async (t) => {
  const tree = new GrowingTree()
  t.equal(tree.root().toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  for (const [index, leaf] of leaves.entries()) {
    tree.add(leafHash(Buffer.from(leaf, 'hex')))
    t.equal(tree.root().toString('hex'), roots[index])
  }
})

/** The definition of RFC 6962, 2.1, word for word. */
function naiveRoot(hashes: readonly Buffer[]): Buffer {
  if (hashes.length <= 1) return hashes[0] ?? rootOver(Buffer.alloc(0))
  const left = 2 ** Math.ceil(Math.log2(hashes.length) - 1)
  return nodeHash(naiveRoot(hashes.slice(0, left)), naiveRoot(hashes.slice(left)))
}

const hashOf = (index: number) => leafHash(Buffer.from(`leaf ${index}`))

/** A tree that was grown to each of these sizes in turn, and every tile that it had then. */
function grown(sizes: readonly number[]) {
  const tiles = new Map<string, Buffer>()
  const tree = new GrowingTree()
  for (const size of sizes) {
    while (tree.size < size) tree.add(hashOf(tree.size))
    for (const { hashes, ...name } of tree.takeTiles()) tiles.set(tilePath(name), hashes)
  }
  const read = async (name: TileName) => {
    const tile = tiles.get(tilePath(name))
    if (!tile) throw new Error(`${tilePath(name)} is missing`)
    return tile
  }
  return { tree, read }
}

const sizes = fc
  .array(fc.oneof(fc.integer({ min: 1, max: 1_200 }), fc.constantFrom(255, 256, 257, 511, 512, 513)), {
    minLength: 2,
    maxLength: 5,
  })
  .map((list) => [...new Set(list)].sort((a, b) => a - b))
  .filter(({ length }) => length > 1)

t.test('every leaf is proved in every tree, and every tree in those after it', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.double({ min: 0, max: 0.999, noNaN: true }), async (sizes, part) => {
      const { read } = grown(sizes)
      const [older, newer] = [sizes[0]!, sizes.at(-1)!]
      const hashes = Array.from({ length: newer }, (_, index) => hashOf(index))
      const proofs = new TileProofs(newer, read)
      const root = naiveRoot(hashes)
      const index = Math.floor(part * newer)
      const inclusion = {
        index,
        size: newer,
        leaf: hashes[index]!,
        proof: await proofs.inclusion(index),
        root,
      }
      const consistency = {
        older: { size: older, root: naiveRoot(hashes.slice(0, older)) },
        newer: { size: newer, root },
        proof: await proofs.consistency(older),
      }
      const wrong = { index: (index + 1) % newer, leaf: hashOf(newer) }
      return (
        root.equals(await proofs.root()) &&
        isIncluded(inclusion) &&
        !isIncluded({ ...inclusion, leaf: wrong.leaf }) &&
        (newer === 1 || !isIncluded({ ...inclusion, index: wrong.index })) &&
        !isIncluded({ ...inclusion, proof: inclusion.proof.slice(1) }) === inclusion.proof.length > 0 &&
        isConsistent(consistency) &&
        !isConsistent({ ...consistency, older: { size: older, root: wrong.leaf } }) &&
        !isConsistent({ ...consistency, newer: { size: newer, root: wrong.leaf } })
      )
    }),
    {
      numRuns: 40,
      examples: [
        [[1, 2], 0],
        [[255, 256, 257], 0.5],
        [[3, 65_793], 0.99],
      ],
    },
  )
})

t.test('a tree goes on from its partial tiles as if it had never stopped', async (t) => {
  const { tree, read } = grown([65_793])
  const edge = await Promise.all(
    [0, 1, 2].map(async (level) => {
      const index = Math.floor(tree.size / 256 ** (level + 1))
      const width = widthOf({ level, index }, tree.size)
      return width === 0 ? Buffer.alloc(0) : await read({ level, index, width })
    }),
  )
  const next = new GrowingTree(tree.size, edge)
  for (const one of [tree, next]) for (let index = 0; index < 300; index++) one.add(hashOf(index))
  t.strictSame(next.root(), tree.root())
  t.throws(() => new GrowingTree(tree.size + 1, edge), /ends with/)
})

t.test('tiles are named as tlog-tiles names them, and no other spelling is taken', async (t) => {
  const names: Readonly<Record<string, TileName>> = {
    'tile/0/x001/x234/067': { level: 0, index: 1_234_067, width: 256 },
    'tile/1/000.p/17': { level: 1, index: 0, width: 17 },
    'tile/entries/x001/000.p/255': { level: 'entries', index: 1_000, width: 255 },
    'tile/63/999': { level: 63, index: 999, width: 256 },
  }
  for (const [path, name] of Object.entries(names)) {
    t.equal(tilePath(name), path)
    t.strictSame(parseTilePath(path), name)
  }
  for (const path of [
    'tile/0/0',
    'tile/00/000',
    'tile/64/000',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/x000/000',
    'tile/0/1234',
    'tile/0/000/001',
    'tile/0/000.p/01',
    'tile/0/x001/067.p/',
  ]) {
    t.equal(parseTilePath(path), undefined, path)
  }
})

t.test('bundles give back what went into them, and a cut one is refused', async (t) => {
  const entries = [Buffer.from('a'), Buffer.alloc(0), Buffer.alloc(65_535, 7)]
  const bundle = entryBundle(entries)
  t.strictSame(entriesOf(bundle), entries)
  t.throws(() => entriesOf(bundle.subarray(0, -1)), /within an entry/)
  t.throws(() => entryBundle([Buffer.alloc(65_536)]), /too long/)
})

t.test('nothing is proved of a part of a leaf, or of none', async (t) => {
  const proofs = new TileProofs(9, () => Promise.reject(new Error('read')))
  await lawOver(t, [-1, 1.5, NaN, 10, Infinity], async (size) => {
    await t.rejects(proofs.consistency(size), RangeError)
    await t.rejects(proofs.inclusion(size), RangeError)
  })
})

t.test('what is no hash proves nothing, whatever was hashed before it', async (t) => {
  const { tree, read } = grown([3])
  const proofs = new TileProofs(3, read)
  const [inclusion, consistency] = [await proofs.inclusion(0), await proofs.consistency(2)]
  const newer = { size: 3, root: tree.root() }
  const older = { size: 2, root: await proofs.root(2) }
  await lawOver(t, [0, 31, 33], async (length) => {
    const like = (hash: Buffer) => Buffer.concat([hash, hash]).subarray(0, length)
    const included = (proof: Buffer[]) => isIncluded({ index: 0, leaf: hashOf(0), proof, ...newer })
    t.ok(included([...inclusion]))
    t.notOk(included([...inclusion.slice(0, -1), like(inclusion.at(-1)!)]))
    t.ok(isConsistent({ older, newer, proof: consistency }))
    t.notOk(isConsistent({ older, newer, proof: consistency.map(like) }))
  })
})
