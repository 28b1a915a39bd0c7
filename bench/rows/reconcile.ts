import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readStatement } from '../../infra/statements/read-statement.ts'
import { ZoneClock } from '../../packages/kernel/time/calendar.ts'
import { reconcile as reconcileStatement } from '../../services/composition/books/reconcile.ts'
import type { Runtime } from '../../services/composition/dependencies.ts'
import { sizeIn, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import type { Measured } from '../support/report/measured.ts'
import { makeMerchants, openBenchRuntime } from '../support/merchants.ts'
import { skipToHead } from '../support/seed.ts'

export const reconcile: Row = {
  name: 'reconcile',
  ours: "an operator's statement read, compared with the journal and written down, an event for each line",
  peer: 'PostgreSQL: COPY of the same file, one full join with the journal, its result in a table',
  unit: 'lines/s',
  target: { least: 0.05 },
  /** 1,000,000 lines in a minute. */
  valueLeast: 16_667,
  prepare,
}

const rail = 'mobile_money.SN.wave'
const timeZone = 'Africa/Dakar'
/** One line in this many is wrong. */
const wrongEvery = 1_000

async function prepare(bench: Bench): Promise<Contest> {
  const lines = sizeIn(bench.scale, { whole: 1_000_000, quick: 100_000 })
  const database = await bench.database('bench_reconcile')
  const runtime = await openBenchRuntime(database)
  const { pool } = runtime.postgres
  await makeMerchants(runtime.dependencies, 1)
  await pool.query(journalRows, [`provider:${rail}`, lines])
  await pool.query('vacuum analyze read.journal')
  const { rows } = await pool.query<{ line: string }>(statementLines, [wrongEvery])
  const directory = mkdtempSync(join(tmpdir(), 'ikw-bench-'))
  const fileOf = (round: number) =>
    `reference,amount,fee,date\n${rows.map(({ line }) => line).join('\n')}\n${'\n'.repeat(round)}`
  return {
    async ours(round) {
      // Nobody projects here: what earlier rounds have written down would be waited for.
      await skipToHead(pool)
      return perSecond(lines, () => ourReconciliation(runtime, Buffer.from(fileOf(round)), lines))
    },
    peer: async (round) => {
      const path = join(directory, `${round}.csv`)
      writeFileSync(path, fileOf(0), { mode: 0o644 })
      return perSecond(lines, () => theirs(runtime, path))
    },
    note: () => `${lines} lines, one in ${wrongEvery} with another amount`,
    async close() {
      await runtime.close()
      rmSync(directory, { recursive: true })
      await database.drop()
    },
  }
}

/** Payouts of one day, as the read model has them; where they stand in the log says nothing here. */
const journalRows = `
  insert into read.journal_v2_1 (position, line, entry, book, merchant, livemode, currency, step, template, hold,
    subject_type, subject, account, class, side, amount, actor, effective_at, occurred_at)
  select 1, number, gen_random_uuid(), 'm.test.XOF', 'm', false, 'XOF', 'HoldPosted', 'payout.settle', null,
    'payout', md5(number::text)::uuid, $1::text, 'asset', 'credit', 1000 + number % 5000, 'rail', at, at
  from generate_series(1, $2::int) as number,
    lateral (select timestamptz '2026-03-10T08:00:00Z' + number * interval '20 ms' as at) times`

const statementLines = `
  select subject || ',' || (case when line % $1::int = 0 then 1 - amount else 0 - amount end) || ',0,' ||
    to_char(effective_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as line
  from read.journal order by line`

async function ourReconciliation(runtime: Runtime, bytes: Buffer, lines: number): Promise<void> {
  const clock = new ZoneClock(timeZone)
  const instantOf = (local: string) => clock.instantOf(local)
  const read = readStatement(bytes, {
    currency: 'XOF',
    digits: 0,
    map: {},
    decimal: 'auto',
    future: '9999',
    instantOf,
  })
  const { dependencies, postgres } = runtime
  const { result } = await reconcileStatement({
    dependencies,
    pool: postgres.pool,
    rail,
    environment: 'sandbox',
    currency: 'XOF',
    read,
    clock,
    timeZone,
    actor: 'bench',
    onProgress: () => undefined,
  })
  const wrong = Math.floor(lines / wrongEvery)
  const { matched, differs_in_amount: differing } = result.counts
  if (matched !== lines - wrong || differing !== wrong)
    throw new Error(`found ${JSON.stringify(result.counts)}`)
}

async function theirs({ postgres: { pool } }: Runtime, path: string): Promise<void> {
  await pool.query(`
    drop table if exists peer_lines, peer_findings;
    create table peer_lines (reference text, amount bigint, fee bigint, at timestamptz);
    copy peer_lines from '${path}' (format csv, header);
    create table peer_findings as
      select l.*, j.entry, case when l.reference is null then 'only_here' when j.entry is null then 'only_there'
        when l.amount <> -j.amount then 'differs_in_amount' else 'matched' end as finding
      from peer_lines l full join read.journal j on j.subject = l.reference`)
}

async function perSecond(lines: number, work: () => Promise<void>): Promise<Measured> {
  const started = performance.now()
  await work()
  return { value: lines / ((performance.now() - started) / 1_000) }
}
