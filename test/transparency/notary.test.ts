import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { TreeStore, type TreeGrowth } from '../../infra/postgres/transparency/tree-store.ts'
import { parseCheckpoint, type Checkpoint } from '../../infra/transparency/checkpoint.ts'
import { commitmentOf } from '../../infra/transparency/commitment.ts'
import { leafHash } from '../../infra/transparency/hashing.ts'
import { isConsistent, isIncluded, TileProofs } from '../../infra/transparency/proofs.ts'
import { noteVerifier, parseNote, verifiedSigners } from '../../infra/transparency/signed-note.ts'
import { entriesOf, tilePath, tileWidth } from '../../infra/transparency/tiles.ts'
import { GrowingTree } from '../../infra/transparency/tree.ts'
import { startService as start } from '../../services/all-in-one/start.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { clientOf, startService, type MerchantClient, type TestService } from '../support/service.ts'
import { treesOver, unsignedLog } from '../support/transparency/unsigned-log.ts'

const payout = {
  amount: 500,
  currency: 'XOF',
  destination: { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000001' },
}

/** What anybody sees of the log who knows nothing but its address. */
class Auditor {
  readonly #url: string

  constructor({ url }: MerchantClient) {
    this.#url = `${url}/log`
  }

  async bytes(path: string): Promise<Buffer> {
    const response = await fetch(`${this.#url}/${path}`)
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
    return Buffer.from(await response.arrayBuffer())
  }

  /** The newest checkpoint, signed by a key of the log. */
  async checkpoint() {
    const note = parseNote((await this.bytes('checkpoint')).toString())
    const keys = (await this.bytes('key')).toString().trimEnd().split('\n')
    if (verifiedSigners(note, keys.map(noteVerifier)).size === 0) throw new Error('nobody has signed it')
    return parseCheckpoint(note.text)
  }

  proofs(size: number): TileProofs {
    return new TileProofs(size, (name) => this.bytes(tilePath(name)))
  }

  async commitments(size: number): Promise<readonly Buffer[]> {
    const found: Buffer[] = []
    for (let index = 0; index * tileWidth < size; index++) {
      const width = Math.min(tileWidth, size - index * tileWidth)
      found.push(...entriesOf(await this.bytes(tilePath({ level: 'entries', index, width }))))
    }
    return found
  }
}

async function payOut(client: MerchantClient, count: number): Promise<void> {
  const made = await Promise.all(Array.from({ length: count }, () => client.post('/api/v1/payouts', payout)))
  for (const { status } of made) if (status !== 201) throw new Error(`a payout was answered ${status}`)
}

type Events = Parameters<typeof commitmentOf>[0][]

async function wholeLog(service: TestService) {
  const { asStored: store } = service.service.runtime
  const auditor = new Auditor(service)
  return eventually(
    async () => {
      const events: Events = []
      for await (const page of store.readOn(0)) events.push(...page)
      // Nothing is signed yet when the service has just begun.
      return { events, checkpoint: await auditor.checkpoint().catch(() => nothing) }
    },
    ({ events, checkpoint }) => checkpoint.size === events.length,
  )
}

const nothing = { size: -1, root: Buffer.alloc(0) }

t.test('every event has its leaf, provable from what is public', async (t) => {
  const service = await startService(t)
  const auditor = new Auditor(service)
  await payOut(service, 40)
  const older = (await wholeLog(service)).checkpoint
  await payOut(service, 40)
  const { events, checkpoint } = await wholeLog(service)
  t.ok(checkpoint.size > tileWidth, `${checkpoint.size} leaves fill more than one tile`)

  const proofs = auditor.proofs(checkpoint.size)
  t.strictSame(await proofs.root(), checkpoint.root)
  t.strictSame(await auditor.commitments(checkpoint.size), events.map(commitmentOf))
  for (const index of [0, 255, 256, checkpoint.size - 1]) {
    const leaf = leafHash(commitmentOf(events[index]!))
    const proof = await proofs.inclusion(index)
    t.ok(isIncluded({ index, leaf, proof, ...checkpoint }), `leaf ${index}`)
    const other = { ...events[index]!, data: { ...events[index]!.data, amount: 1 } }
    t.notOk(
      isIncluded({ index, leaf: leafHash(commitmentOf(other)), proof, ...checkpoint }),
      'a changed event',
    )
  }
  t.ok(isConsistent({ older, newer: checkpoint, proof: await proofs.consistency(older.size) }))
})

t.test('a tree goes on after a restart, with the same key', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { PORT: '0', DATA_DIR: temporaryDirectory(t), POSTGRES_URL, LOG_LEVEL: 'error' }
  const life = async () => {
    const service = await start(readConfiguration(settings))
    const client = clientOf(service)
    await payOut(client, 3)
    const { checkpoint } = await wholeLog({ ...client, service })
    const auditor = new Auditor(client)
    return { service, checkpoint, auditor, key: await auditor.bytes('key') }
  }
  const first = await life()
  await first.service.close()
  const second = await life()
  t.teardown(() => second.service.close())

  const [older, newer] = [first.checkpoint, second.checkpoint]
  const proof = await second.auditor.proofs(newer.size).consistency(older.size)
  t.ok(newer.size > older.size && isConsistent({ older, newer, proof }))
  t.strictSame(second.key, first.key)
})

t.test(
  'a long log that nobody has signed is signed in steps, also when one of them is cut off',
  async (t) => {
    const { url } = await testDatabase(t)
    const { pool, store, notarise } = await unsignedLog(t, url)
    await pool.query(`
    insert into events (position, stream, revision, id, type, data, metadata)
    select number, 'payout-' || gen_random_uuid(), 0, gen_random_uuid(), 'PayoutSent', '{}', '{}'
    from generate_series(1, 12001) as number`)
    const trees = new CutOff(pool)
    const notary = await notarise(trees)
    const { rows } = await eventually(
      () => pool.query<Checkpoint>('select size, root from log_checkpoints order by size'),
      ({ rows }) => rows.at(-1)?.size === 12_001,
    )
    await notary.close()
    t.strictSame([trees.steps, rows.map(({ size }) => size)], [3, [5_000, 10_000, 12_001]])
    const roots = new Map<number, Buffer>()
    for await (const tree of treesOver(store))
      if (rows.some(({ size }) => size === tree.size)) roots.set(tree.size, tree.root())
    t.strictSame(new Map(rows.map(({ size, root }) => [size, root])), roots)
  },
)

/** A connection that breaks when the second step has been committed. */
class CutOff extends TreeStore {
  steps = 0

  override async grow(growth: TreeGrowth): Promise<void> {
    await super.grow(growth)
    if (++this.steps === 2) throw new Error('cut off')
  }
}

t.test('a write that arrives when its leaves were written again adds none of them twice', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { POSTGRES_URL, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent' }
  const { postgres, close } = await openRuntime(readConfiguration(settings))
  t.teardown(close)
  const trees = new TreeStore(postgres.pool)
  const sizes = [3, 3, 300, 900]
  const results = await Promise.allSettled(sizes.map((count) => trees.grow(growthOf(count))))
  const written = sizes.filter((_, index) => results[index]!.status === 'fulfilled')
  t.equal(written.length, 1, 'one of those that began at the same size')
  await t.rejects(trees.grow(growthOf(1_000)), { message: /were expected/ }, 'nor one that comes later')

  const [size] = written as [number]
  const { rows } = await postgres.pool.query(
    'select sum(cardinality(positions))::int as leaves from log_bundles',
  )
  t.strictSame(rows, [{ leaves: size }])
  t.strictSame((await trees.open()).tree.root(), treeOf(size).root())
})

/** The first leaves of a log, as its first notary adds them. */
function growthOf(count: number): TreeGrowth {
  const tree = treeOf(count)
  const positions = leavesOf(count).map((_, index) => index + 1)
  const leaves = { positions, commitments: Buffer.concat(leavesOf(count)) }
  const [root, tiles] = [tree.root(), tree.takeTiles()]
  return { leaves, tiles, checkpoint: { size: count, root, note: `of ${count}`, position: count } }
}

function treeOf(count: number): GrowingTree {
  const tree = new GrowingTree()
  for (const commitment of leavesOf(count)) tree.add(leafHash(commitment))
  return tree
}

function leavesOf(count: number): readonly Buffer[] {
  return Array.from({ length: count }, (_, index) => Buffer.alloc(32, index % 256))
}

t.test('what is not there is not found, whatever is asked for', async (t) => {
  const service = await startService(t)
  await wholeLog(service)
  for (const path of [
    'tile/0/999',
    'tile/0/000',
    'tile/9/000.p/1',
    'tile/0/0',
    'tile/entries/000',
    'tile/x',
    'other',
  ])
    t.equal((await fetch(`${service.url}/log/${path}`)).status, 404, path)
})
