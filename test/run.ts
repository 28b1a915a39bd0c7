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
 * per file and why some of its tests were skipped, the whole output of files that failed, and at the end
 * `N passed, N failed`. A test file is a program that prints TAP, so each is started with node alone: tap's
 * own runner takes seconds to start a file.
 */

const here = dirname(fileURLToPath(import.meta.url))
const beforeTap = pathToFileURL(join(here, 'support/without-async-hooks.js')).href
const fileTimeoutMs = 600_000
const named = process.argv.slice(2)
/** They wait for leases and browsers for minutes. Begun last, they would have a processor to themselves. */
const long = /^(transparency\/tampering|checkout\/(failure-ways|hosted-pages)|faults\/|\w+\/crash)/
const isShort = (name: string) => (long.test(name) ? 0 : 1)
// What stands in `dist` may be older than the sources: a test that is gone is not run.
const all = readdirSync(join(here, '../../test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .sort((one, other) => isShort(one) - isShort(other) || one.localeCompare(other))
const files = named.length > 0 ? named : all.map((name) => join(here, name.replace(/ts$/, 'js')))

interface Result {
  readonly passed: number
  readonly failed: number
}

const directory = mkdtempSync(join(tmpdir(), 'ikw-suite-'))
const postgres = await startEmbeddedPostgres({ directory })
try {
  await waitForNoDisk()
  await prepareTemplates(postgres.url)
  const results = await runAll(files, {
    ...process.env,
    IKW_TEST_POSTGRES: postgres.url,
    TAP_TIMEOUT: String(fileTimeoutMs / 1_000),
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

/** One more file at a time than there are processors: a quarter of the time of a file is waiting. */
async function runAll(paths: readonly string[], environment: NodeJS.ProcessEnv): Promise<readonly Result[]> {
  const rest = [...paths]
  const results: Result[] = []
  const worker = async () => {
    for (let path = rest.shift(); path !== undefined; path = rest.shift())
      results.push(await run(path, environment))
  }
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, worker))
  return results
}

async function run(path: string, environment: NodeJS.ProcessEnv): Promise<Result> {
  const started = performance.now()
  const child = spawn(process.execPath, ['--enable-source-maps', '--import', beforeTap, path], {
    env: environment,
    timeout: fileTimeoutMs,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const [, pass = '0', fail = '0', skip = '0'] =
    /^# \{ total: \d+(?:, pass: (\d+))?(?:, fail: (\d+))?(?:, skip: (\d+))?/m.exec(output) ?? []
  // A file that ends badly, or has checked nothing, has failed, also when no check of it has.
  const isDone = code === 0 && Number(pass) + Number(skip) > 0
  const failed = isDone ? Number(fail) : Math.max(1, Number(fail))
  const skipped = [...output.matchAll(/^\s*ok \d+ - .* # SKIP (.*)$/gm)].map(([, reason]) => reason)
  const told = [...new Set(skipped)].map((reason) => `    skipped: ${reason}\n`).join('')
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(
    `${failed > 0 ? `${output}\nnot ok` : 'ok'} ${relative(here, path)}: ${pass} passed, ${failed} failed, ${seconds} s\n${told}`,
  )
  return { passed: Number(pass), failed }
}
