import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { writeBackup } from '../../infra/backup/write.ts'
import { verifierKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { sizeIn, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { openBenchRuntime } from '../support/merchants.ts'
import { root } from '../support/root.ts'
import { seededStore } from '../support/seeded.ts'
import { signAll } from './notary.ts'
import { perSecond } from './rebuild.ts'

const execute = promisify(execFile)

export const audit: Row = {
  name: 'audit',
  ours: '`ikw audit verify` of a backup, in a process of its own: tree, signatures, every book and every rule',
  peer: 'docs/audit-verifier.mjs of the same backup: tree, signatures, and that entries add up to nothing',
  unit: 'events/s',
  /** 1,000,000 events in a minute. */
  valueLeast: 16_667,
  prepare,
}

const eventsPerPayout = 6
/** Memory does not grow with the log but for an id of each entry, hold and payout. */
const heapMb = 512

async function prepare(bench: Bench): Promise<Contest> {
  const payouts = Math.ceil(sizeIn(bench.scale, { whole: 1_000_000, quick: 60_000 }) / eventsPerPayout)
  const options = { merchants: 1_000, payouts, withEvents: true, withRows: false }
  const { database, events } = await seededStore(bench, 'bench_audit', options)
  const runtime = await openBenchRuntime(database)
  const { pool } = runtime.postgres
  await signAll(runtime, database)
  const directory = mkdtempSync(join(tmpdir(), 'ikw-bench-'))
  const onProgress = () => undefined
  await writeBackup({ directory, pool, store: runtime.asStored, now: new Date(), onProgress })
  const keys = (await verifierKeys(pool)).join(' ')
  const program = fileURLToPath(
    new URL(`../../services/cli/main${import.meta.url.slice(-3)}`, import.meta.url),
  )
  const node = (...parameters: readonly string[]) =>
    perSecond(events, async () => void (await execute(process.execPath, [...parameters])))
  return {
    ours: () => node(`--max-old-space-size=${heapMb}`, program, 'audit', 'verify', directory, '--key', keys),
    peer: () => node(join(root, 'docs/audit-verifier.mjs'), directory, keys),
    note: () => `${events} events, within a heap of ${heapMb} MB`,
    async close() {
      await runtime.close()
      rmSync(directory, { recursive: true })
      await database.drop()
    },
  }
}
