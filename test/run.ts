import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '../infra/postgres/embedded.ts'

/*
 * Runs the whole suite, or the files named on the command line, on one PostgreSQL of its own. Prints a line
 * per file, the
 * whole output of files that failed, and at the end `N passed, N failed`.
 */

const here = dirname(fileURLToPath(import.meta.url))
const named = process.argv.slice(2)
const sources = join(here, '../../test')
// What stands in `dist` may be older than the sources: a test that is gone is not run.
const all = readdirSync(sources).filter((name) => name.endsWith('.test.ts'))
const files = named.length > 0 ? named : all.map((name) => join(here, name.replace(/ts$/, 'js')))

const directory = mkdtempSync(join(tmpdir(), 'ikw-suite-'))
const postgres = await startEmbeddedPostgres({ directory })
try {
  const { passed, failed, exitCode } = await runTap(files, {
    ...process.env,
    IKW_TEST_POSTGRES: postgres.url,
  })
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  process.exitCode = exitCode === 0 && failed === 0 && passed > 0 ? 0 : 1
} finally {
  await postgres.stop()
  rmSync(directory, { recursive: true, force: true })
}

interface Totals {
  readonly passed: number
  readonly failed: number
  readonly exitCode: number
}

async function runTap(paths: readonly string[], environment: NodeJS.ProcessEnv): Promise<Totals> {
  const tap = join(here, '../../node_modules/.bin/tap')
  const run = spawn(tap, ['run', '--reporter=tap', '--timeout=300', ...paths], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number>((resolve) => run.once('close', (code) => resolve(code ?? 1)))
  let block: string[] = []
  let totals = { passed: 0, failed: 0 }
  for await (const line of createInterface({ input: run.stdout })) {
    block.push(line)
    const summary = /^# \{ total: \d+(?:, pass: (\d+))?(?:, fail: (\d+))?/.exec(line)
    if (summary) totals = { passed: Number(summary[1] ?? 0), failed: Number(summary[2] ?? 0) }
    if (!/^(?:not )?ok \d+ - /.test(line)) continue
    process.stdout.write(line.startsWith('not') ? `${block.join('\n')}\n` : `${line}\n`)
    block = []
  }
  return { ...totals, exitCode: await ended }
}
