import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { leavesAhead } from '../../infra/event-store/embedded/leaves-ahead.ts'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { logSigners } from '../../infra/postgres/transparency/log-keys.ts'
import { lastCheckpoint, TreeStore } from '../../infra/postgres/transparency/tree-store.ts'
import type { LogPart } from '../../infra/transparency/leaves.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { startNotary } from '../../services/notary/main.ts'
import type { Runtime } from '../../services/composition/dependencies.ts'
import { sizeIn, type Bench, type BenchDatabase } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { openBenchRuntime } from '../support/merchants.ts'
import { seededStore } from '../support/seeded.ts'
import { perSecond } from './rebuild.ts'

export const notary: Row = {
  name: 'notary',
  ours: 'a log that nobody has signed: read, committed to event by event, its tree and checkpoints written',
  peer: 'a chain of hashes, as ledgers keep it: the same events read, each hashed with the one before, a row for each',
  unit: 'events/s',
  target: { least: 1 },
  valueLeast: 100_000,
  prepare,
}

const eventsPerPayout = 6
const lookEveryMs = 10

async function prepare(bench: Bench): Promise<Contest> {
  const payouts = Math.ceil(sizeIn(bench.scale, { whole: 1_000_000, quick: 60_000 }) / eventsPerPayout)
  const options = { merchants: 1_000, payouts, withEvents: true, withRows: false }
  const { database, events } = await seededStore(bench, 'bench_notary', options)
  const runtime = await openBenchRuntime(database)
  const { pool } = runtime.postgres
  await pool.query('create table peer_chain (position bigint primary key, hash bytea not null)')
  return {
    async ours() {
      await pool.query('truncate log_bundles, log_tiles, log_checkpoints, log_cosignatures')
      return perSecond(events, () => signAll(runtime, database))
    },
    async peer() {
      await pool.query('truncate peer_chain')
      return perSecond(events, () => chainAll(runtime))
    },
    note: () => `${events} events`,
    async close() {
      await runtime.close()
      await database.drop()
    },
  }
}

export async function signAll(
  { postgres, dependencies, configuration }: Runtime,
  { url }: BenchDatabase,
): Promise<void> {
  const { pool } = postgres
  const { log, vault } = dependencies
  const signers = await logSigners({ pool, vault, baseUrl: configuration.baseUrl })
  const store = await openEmbeddedStore({ url })
  const head = await store.head()
  const trees = new TreeStore(pool)
  const ahead = (piece: LogPart) => leavesAhead({ url }, piece)
  const signing = await startNotary({ store, log, signers, trees, leavesAhead: ahead })
  while (((await lastCheckpoint(pool))?.position ?? 0) < head) await pause(lookEveryMs)
  await signing.close()
  await store.close()
}

async function chainAll({ asStored, postgres: { pool } }: Runtime): Promise<void> {
  const insert = 'insert into peer_chain select * from unnest($1::bigint[], $2::bytea[])'
  let hash: Buffer = Buffer.alloc(32)
  for await (const page of asStored.readOn(0)) {
    const hashes = page.map((event) => (hash = chained(hash, event)))
    await pool.query(insert, [page.map(({ position }) => position), hashes])
  }
}

function chained(before: Buffer, { id, stream, revision, type, data, metadata }: StoredEvent): Buffer {
  const content = JSON.stringify({ id, stream, revision, type, data, metadata })
  return createHash('sha256').update(before).update(content).digest()
}
