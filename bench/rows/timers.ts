import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { PostgresTimers } from '../../infra/postgres/timers.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { runDue, type TimerRunnerOptions } from '../../services/processes/runner/due-timers.ts'
import { timers as timersModel } from '../../projections/timers.ts'
import { connected, peerPool, sizeIn, type Bench } from '../support/bench.ts'
import { NotMeasuredError, type Contest, type Row } from '../support/report/contest.ts'
import { root } from '../support/root.ts'

export const timers: Row = {
  name: 'timers',
  ours: 'timers that are all due, each run once and noted, by one runner',
  peer: 'graphile-worker: as many jobs that do nothing, 128 at once, with its local queue',
  unit: 'timers/s',
  target: { least: 1 },
  valueLeast: 5_000,
  rounds: 1,
  prepare,
}

const kind = 'bench'
const steadyPerSecond = 1_000
const lateMsMax = 2_000
const poolMax = 16

async function prepare(bench: Bench): Promise<Contest> {
  const openWorker = await importWorker()
  const count = sizeIn(bench.scale, { whole: 1_000_000, quick: 100_000 })
  const database = await bench.database('bench_timers')
  const postgres = await connected(database)
  await publishMissing(postgres.pool, [timersModel], '')
  const peerDatabase = await bench.database('bench_graphile_worker')
  const pool = peerPool(peerDatabase, poolMax)
  const worker = await openWorker(pool)
  let latest = 0
  return {
    async ours() {
      await seed(postgres.pool, { name: 'backlog', count, everyMs: 0 })
      const value = await fire(postgres.pool, count)
      latest = await steadily(postgres.pool, bench.scale.measuredMs)
      return { value }
    },
    peer: async () => ({ value: (count * 1_000) / (await worker.work(count)) }),
    async check() {
      if (latest > lateMsMax) throw new Error(`a timer was ${Math.round(latest)} ms late under steady load`)
      return `none was more than ${Math.round(latest)} ms late while ${steadyPerSecond} fell due each second`
    },
    note: () => `${count} are due at the beginning; the work itself does nothing on either side`,
    async close() {
      await postgres.close()
      await pool.end()
      await database.drop()
      await peerDatabase.drop()
    },
  }
}

interface Seed {
  readonly name: string
  readonly count: number
  /** Between two timers. */
  readonly everyMs: number
}

/** In the state in which the projector would have left them. */
async function seed(pool: pg.Pool, { name, count, everyMs }: Seed): Promise<void> {
  const text = `
    insert into read.timers (id, kind, subject, merchant, livemode, due_at)
    select $1 || ':' || n, $2, $1 || n, gen_random_uuid(), true, date_trunc('milliseconds', now()) + n * $3 * interval '1 millisecond'
    from generate_series(1, $4::integer) n`
  await pool.query(text, [name, kind, everyMs, count])
  await pool.query('analyze')
}

/** Runs due timers until this many have run; returns the rate per second. */
async function fire(pool: pg.Pool, count: number): Promise<number> {
  const seen = new Set<string>()
  const options = runnerOf(pool, (id) => {
    if (seen.has(id)) throw new Error(`${id} was run twice`)
    seen.add(id)
  })
  const begun = performance.now()
  while (seen.size < count) await runDue(options)
  return (count * 1_000) / (performance.now() - begun)
}

/** The greatest delay while new timers keep falling due. */
async function steadily(pool: pg.Pool, forMs: number): Promise<number> {
  const count = (steadyPerSecond * forMs) / 1_000
  await seed(pool, { name: 'steady', count, everyMs: 1_000 / steadyPerSecond })
  let latest = 0
  let left = count
  const options = runnerOf(pool, (id, dueAt) => {
    if (!id.startsWith('steady')) return
    left--
    latest = Math.max(latest, Date.now() - Date.parse(dueAt))
  })
  while (left > 0) {
    const { ran } = await runDue(options)
    if (ran === 0) await pause(20)
  }
  return latest
}

/** The service's own runner, with work that only counts. */
function runnerOf(pool: pg.Pool, tell: (id: string, dueAt: string) => void): TimerRunnerOptions {
  const later = new Date(Date.now() + 86_400_000)
  const work = async ({ id, dueAt }: { readonly id: string; readonly dueAt: string }) => {
    tell(id, dueAt)
    return later
  }
  const log = { info: () => undefined, warn: () => undefined, error: (fields: object) => fail(fields) }
  const dependencies = { clock: () => new Date(), movedClocks: { ahead: () => [] } }
  // The runner uses nothing else of its tools.
  const tools = { dependencies } as unknown as TimerRunnerOptions['tools']
  const processes = [{ timers: { [kind]: work } }]
  return { processes, timers: new PostgresTimers(pool), tools, log, assertHeld: () => undefined }
}

function fail(fields: object): never {
  throw new Error(`a timer failed: ${JSON.stringify(fields)}`)
}

type OpenWorker = (pool: pg.Pool) => Promise<{ work(count: number): Promise<number> }>

/** The peer has its own package.json, so it is not compiled with this program. */
async function importWorker(): Promise<OpenWorker> {
  const file = join(root, 'bench/peers/graphile-worker/jobs.js')
  try {
    return ((await import(pathToFileURL(file).href)) as { readonly openWorker: OpenWorker }).openWorker
  } catch (error) {
    const { message } = error as Error
    throw new NotMeasuredError(`not measured: install bench/peers/graphile-worker first (${message})`)
  }
}
