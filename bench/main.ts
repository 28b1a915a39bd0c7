import { join } from 'node:path'
import { rows } from './rows/index.ts'
import { eventStoreUrl, openBench, scales } from './support/bench.ts'
import { rowsNamed } from './support/report/choice.ts'
import { NotMeasuredError, type Row } from './support/report/contest.ts'
import { measure } from './support/measure.ts'
import { generatorMaximum } from './support/load/generator.ts'
import { besideKept, keptDirectory, runOfToday } from './support/report/kept.ts'
import { machineFacts } from './support/report/machine.ts'
import { headings, line, writeReport } from './support/report/report.ts'
import { isReached, number, type Result } from './support/report/result.ts'

/**
 * `make bench` runs all rows, or only those it is given by name. `QUICK=1` takes a few minutes, `LONG=1` uses
 * larger stores. `KEEP=1` keeps rows that are given by name beside the results of earlier runs. We and the
 * peer take turns; the median of the rounds counts.
 */

const stores = process.env['QUICK'] === '1' ? 'quick' : 'whole'
const long = process.env['LONG'] === '1'
const names = process.argv.slice(2)
/** What is measured in part or quickly is not committed. */
const isKept = stores === 'whole' && !long && (names.length === 0 || process.env['KEEP'] === '1')
const chosen = names.length === 0 ? rows : rowsNamed(names)

const started = performance.now()
const bench = await openBench({ ...scales[stores], long })
try {
  const facts = { ...(await machineFacts(bench.directory, bench.server.pool)), ...(await runFacts()) }
  for (const [name, value] of Object.entries(facts)) print(`${name}: ${value}`)
  print(`\n${headings}`)
  const results: { row: Row; result: Result }[] = []
  const directory = isKept ? keptDirectory : join(bench.directory, '..', 'ikw-bench-partial')
  const run = isKept ? { run: runOfToday() } : {}
  for (const row of chosen) {
    const result = await resultOf(row)
    results.push({ row, result: { ...result, ...run } })
    // Written after each row, so that an interrupted run keeps what it has measured.
    writeReport(directory, isKept ? besideKept({ facts, results }) : { facts, results })
    print(`${line(row, result)}\n${' '.repeat(16)}${result.note}`)
  }
  const aimed = results.filter(({ row }) => row.target)
  const reached = aimed.filter(({ row, result }) => isReached(row, result)).length
  const minutes = number((performance.now() - started) / 60_000)
  print(`\n${reached} of ${aimed.length} targets reached in ${minutes} min; see ${directory}/results.md`)
} finally {
  await bench.close()
}
// Whatever a row has left open when it failed would go on for ever.
process.exit()

async function runFacts(): Promise<Readonly<Record<string, string>>> {
  const { perSecond, cpuPercent } = await generatorMaximum(bench.generator)
  const { rounds, measuredMs } = bench.scale
  const size =
    stores === 'quick' ? 'QUICK=1: smaller stores and short rounds, so read it as a direction only' : 'whole'
  return {
    ...(eventStoreUrl !== undefined && {
      'event store':
        'payout, payout-whole, intent and rebuild on the EventStoreDB of EVENTSTORE_URL, each under a prefix of its own',
    }),
    run: `${size}; ${rounds} rounds of ${measuredMs / 1_000} s a side, ${new Date().toISOString()}`,
    'load generator':
      `a process of its own; against a server that does nothing it makes ${number(perSecond)} requests/s ` +
      `with ${number(cpuPercent)} % of one core`,
  }
}

/** One failed row must not cost the others. */
async function resultOf(row: Row): Promise<Result> {
  try {
    return await measure(bench, row)
  } catch (error) {
    if (!(error instanceof NotMeasuredError)) process.exitCode = 1
    const { name, unit } = row
    const nothing = { name, unit, ours: null, peer: null, ratio: null, p50_ms: null, p99_ms: null }
    return { ...nothing, note: error instanceof Error ? error.message : String(error) }
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
