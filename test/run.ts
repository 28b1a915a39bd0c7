import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import pg from 'pg'
import { startEmbeddedPostgres } from '../infra/postgres/server/embedded.ts'
import { prepareTemplates } from './support/prepare-templates.ts'

/*
 * Runs the whole suite, or the files named on the command line, on one PostgreSQL of its own. Prints a line
 * per file and why some of its tests were skipped, the whole output of processes in which some failed, and at
 * the end `N passed, N failed`. A test file is a program that prints TAP, so it needs node alone: tap's own
 * runner takes seconds to start a file.
 */

const here = dirname(fileURLToPath(import.meta.url))
const beforeTap = pathToFileURL(join(here, 'support/without-async-hooks.js')).href
const processTimeoutMs = 1_200_000
const inTurn = join(here, 'support/in-turn.js')
const named = process.argv.slice(2)
/**
 * They wait for leases and browsers for minutes, or count what their process does. One after the other runs
 * beside all the rest.
 */
const apart = [
  /^transparency\/tampering/,
  /^checkout\/(failure-ways|hosted-pages)/,
  /^lifecycle\/engines-away-http/,
  /^(bench|faults|simulator)\//,
  /\/crash/,
]
// What stands in `dist` may be older than the sources: a test that is gone is not run.
const all = readdirSync(join(here, '../../test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .sort()
const isApart = (name: string) => apart.some((names) => names.test(name))
/** Of one process. Each further one saves less, and what they leave open is closed at its end only. */
const filesMax = 8
const alone = named.length > 0 ? named : all.filter(isApart).map(compiled)
const together = named.length > 0 ? [] : all.filter((name) => !isApart(name)).map(compiled)

/** As `in-turn` tells. */
const checkedFile = /^# Subtest: (\S+)\n +# checked\n +ok 1 - (\d+ checked, [\d.]+ s)$/gm

interface Result {
  readonly passed: number
  readonly failed: number
}

const directory = mkdtempSync(join(tmpdir(), 'ikw-suite-'))
const postgres = await startEmbeddedPostgres({ directory })
try {
  await waitForNoDisk()
  await prepareTemplates(postgres.url)
  const results = await runAll({
    ...process.env,
    IKW_TEST_POSTGRES: postgres.url,
    TAP_TIMEOUT: String(processTimeoutMs / 1_000),
  })
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  const failed = results.reduce((sum, result) => sum + result.failed, 0)
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
} finally {
  await postgres.stop()
  rmSync(directory, { recursive: true, force: true })
}

/** Tests end processes and not machines, and what a process has written outlives it without the disk. */
async function waitForNoDisk(): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query('alter system set fsync = off')
  await client.query('select pg_reload_conf()')
  await client.end()
}

function compiled(name: string): string {
  return join(here, name.replace(/ts$/, 'js'))
}

function inGroups(paths: readonly string[]): string[][] {
  const count = Math.ceil(paths.length / filesMax)
  return Array.from({ length: count }, (_, index) => paths.slice(index * filesMax, (index + 1) * filesMax))
}

/** One more process at a time than there are processors: a quarter of the time of a test is waiting. */
async function runAll(environment: NodeJS.ProcessEnv): Promise<readonly Result[]> {
  const queues = [alone.map((path) => [path]), inGroups(together)]
  const results: Result[] = []
  const worker = async (_: unknown, index: number) => {
    const [mine, others] = index === 0 ? queues : queues.toReversed()
    for (;;) {
      const paths = mine!.shift() ?? others!.shift()
      if (!paths) return
      results.push(await run(paths, environment))
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, worker))
  return results
}

async function run(paths: readonly string[], environment: NodeJS.ProcessEnv): Promise<Result> {
  const child = spawn(process.execPath, ['--enable-source-maps', '--import', beforeTap, inTurn, ...paths], {
    env: environment,
    timeout: processTimeoutMs,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const [, pass = '0', fail = '0', skip = '0'] =
    /^# \{ total: \d+(?:, pass: (\d+))?(?:, fail: (\d+))?(?:, skip: (\d+))?/m.exec(output) ?? []
  // A process that ends badly, or has checked nothing, has failed, also when no check of it has.
  const isDone = code === 0 && Number(pass) + Number(skip) > 0
  const failed = isDone ? Number(fail) : Math.max(1, Number(fail))
  if (failed > 0)
    process.stdout.write(`${output}\nnot ok ${paths.map((path) => relative(here, path)).join(' ')}\n`)
  else
    for (const [, name, told] of output.matchAll(checkedFile)) process.stdout.write(`ok ${name}: ${told}\n`)
  const skipped = [...output.matchAll(/^\s*ok \d+ - .* # SKIP (.*)$/gm)].map(([, reason]) => reason)
  for (const reason of new Set(skipped)) process.stdout.write(`    skipped: ${reason}\n`)
  return { passed: Number(pass), failed }
}
