import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { leavesAhead } from '../../infra/event-store/embedded/leaves-ahead.ts'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { TreeStore } from '../../infra/postgres/transparency/tree-store.ts'
import { Leaves, type LogPart, type NewLeaves } from '../../infra/transparency/leaves.ts'
import { GrowingTree } from '../../infra/transparency/tree.ts'
import { hashesOf } from '../../infra/transparency/tiles.ts'
import { lawOver } from '../support/law.ts'
import { testDatabase } from '../support/postgres.ts'
import { unsignedLog } from '../support/transparency/unsigned-log.ts'

const eventsPerPart = 300
const partsAtLeast = 2
const events = 2_500

/** Positions with gaps, as a log has them that was copied here. */
const fill = `
  insert into events (position, stream, revision, id, type, data, metadata)
  select 7 * number + number / 100 * 1000, 'payout-' || number, 0, gen_random_uuid(), 'PayoutSent',
    json_build_object('z', number, 'a', json_build_array('é€😀"\\', number), 'b', repeat('x', number % 50)),
    json_build_object('version', 2, 'at', '2026-11-01T00:00:00.000Z', 'actor', 'test',
      'salt', substring(encode(sha256(number::text::bytea), 'hex') for 22))
  from generate_series(1, $1::integer) as number`

async function filled(t: Test) {
  const { url, pool } = await testDatabase(t)
  await pool.query(fill, [events])
  const store = await openEmbeddedStore({ url })
  t.teardown(() => store.close())
  const expected = new Leaves()
  for await (const page of store.readOn(0)) for (const event of page) expected.add(event)
  return { url, pool, store, expected, head: await store.head() }
}

async function collected(parts: AsyncIterable<NewLeaves>): Promise<readonly NewLeaves[]> {
  const found: NewLeaves[] = []
  for await (const part of parts) found.push(part)
  return found
}

t.test('threads make the same leaves, in the same order, as far as there are whole parts', async (t) => {
  const { url, expected, head } = await filled(t)
  const parts = await collected(
    leavesAhead({ url, eventsPerPart, partsAtLeast }, { after: 0, through: head }),
  )
  const whole = Math.floor(events / eventsPerPart)
  t.strictSame(
    parts.map(({ positions }) => positions.length),
    Array.from({ length: whole }, () => eventsPerPart),
  )
  const count = whole * eventsPerPart
  t.strictSame(
    parts.flatMap(({ positions }) => positions),
    expected.positions.slice(0, count),
  )
  t.strictSame(
    Buffer.concat(parts.map(({ commitments }) => commitments)),
    expected.commitments.subarray(0, count * 32),
  )

  const [after, through] = [expected.positions[10]!, expected.positions[700]!]
  const within = await collected(leavesAhead({ url, eventsPerPart, partsAtLeast }, { after, through }))
  t.strictSame(
    within.flatMap(({ positions }) => positions),
    expected.positions.slice(11, 611),
  )
})

t.test('a machine of many processors does not take as many connections', async (t) => {
  const { url, pool, head } = await filled(t)
  const { availableParallelism } = os
  t.teardown(() => setProcessors(availableParallelism))
  setProcessors(() => 16)
  const parts = leavesAhead({ url, eventsPerPart: 50, partsAtLeast }, { after: 0, through: head })
  const text = `select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and query like 'copy%'`
  const [sizes, counts]: [number[], number[]] = [[], []]
  for await (const { positions } of parts) {
    sizes.push(positions.length)
    counts.push((await pool.query<{ count: number }>(text)).rows[0]!.count)
  }
  t.strictSame(sizes, Array(events / 50).fill(50))
  t.ok(Math.max(...counts) <= 4, `${Math.max(...counts)} connections`)
})

function setProcessors(availableParallelism: () => number): void {
  os.availableParallelism = availableParallelism
  syncBuiltinESMExports()
}

t.test('without a server the first part fails, and no thread is left', async (t) => {
  const url = 'postgres://postgres@127.0.0.1:1/none'
  await t.rejects(collected(leavesAhead({ url }, { after: 0, through: 1_000_000 })), { code: 'ECONNREFUSED' })
})

t.test('a log is signed whole, whatever becomes of the threads', async (t) => {
  const ways: Readonly<Record<string, (url: string, pool: pg.Pool) => Ahead>> = {
    'they make nearly all of it': (url) => (piece) =>
      leavesAhead({ url, eventsPerPart, partsAtLeast }, piece),
    'the database ends their connections': (url, pool) => (piece) => cutOff(url, pool, piece),
    'their server is not there': () => (piece) =>
      leavesAhead({ url: 'postgres://postgres@127.0.0.1:1/none', eventsPerPart, partsAtLeast }, piece),
  }
  await lawOver(t, Object.entries(ways), ([name, way]) =>
    t.test(name, async (t) => {
      const { url, store, expected } = await filled(t)
      const { pool, notarise, signed } = await unsignedLog(t, url)
      const notary = await notarise(new TreeStore(pool), { store, leavesAhead: way(url, pool) })
      const checkpoint = await signed(events)
      await notary.close()
      const tree = new GrowingTree()
      for (const entry of hashesOf(expected.commitments)) tree.addEntry(entry)
      t.strictSame(checkpoint?.root, tree.root())
      t.equal(checkpoint?.position, expected.positions.at(-1))
    }),
  )
})

type Ahead = (piece: LogPart) => AsyncIterable<NewLeaves>

/** When the first part is there, everybody else's connections are ended. */
async function* cutOff(url: string, pool: pg.Pool, piece: LogPart): AsyncGenerator<NewLeaves> {
  for await (const part of leavesAhead({ url, eventsPerPart, partsAtLeast }, piece)) {
    yield part
    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like 'copy%' and pid <> pg_backend_pid()`,
    )
  }
}
