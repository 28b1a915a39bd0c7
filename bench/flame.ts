import { spawn, spawnSync, type ChildProcess, type StdioPipe } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { openBench, scales } from './support/bench.ts'
import { fail, namesOfRows, rowsNamed } from './support/report/choice.ts'
import { root } from './support/root.ts'

/**
 * `make flame ROW=intent` draws a flame graph of one row across all processes: Node, PostgreSQL and the
 * kernel. Needs Linux's `perf` and inferno; the Makefile builds inferno and makes V8 write its symbol names.
 */

const [row] = rowsNamed(process.argv.slice(2, 3))
if (!row) fail(`ROW must be given: ${namesOfRows}`)
const { name } = row
const tools = ['perf', 'inferno-collapse-perf', 'inferno-flamegraph']
const missing = tools.filter((tool) => spawnSync(tool, ['--help'], { stdio: 'ignore' }).error)
if (missing.length > 0)
  fail(`${missing.join(' and ')} cannot be started here; bench/README.md says what is needed`)

const bench = await openBench({ ...scales.quick, measuredMs: 5_000 })
try {
  const contest = await row.prepare(bench)
  await contest.ours(1)
  const recorded = join(bench.directory, 'perf.data')
  const recorder = spawn('perf', ['record', '-k', 'mono', '-F', '499', '-a', '-g', '-o', recorded], {
    stdio: 'ignore',
  })
  await once(recorder, 'spawn')
  await contest.ours(2)
  recorder.kill('SIGINT')
  await once(recorder, 'exit')
  await contest.close()
  process.stdout.write(`${await draw(recorded)}\n`)
} finally {
  await bench.close()
}

/** Draws the samples as an SVG beside the results; returns its path. */
async function draw(recorded: string): Promise<string> {
  const named = `${recorded}.named`
  await ended(spawn('perf', ['inject', '--jit', '-i', recorded, '-o', named], { stdio: 'ignore' }))
  const directory = join(root, 'bench', 'flames')
  mkdirSync(directory, { recursive: true })
  const path = join(directory, `${name}.svg`)
  const stdio: [StdioPipe, StdioPipe, 'ignore'] = ['pipe', 'pipe', 'ignore']
  const script = spawn('perf', ['script', '-i', named], { stdio })
  const collapse = spawn('inferno-collapse-perf', { stdio })
  const graph = spawn('inferno-flamegraph', ['--title', name, '--inverted', '--minwidth', '0.3'], { stdio })
  await Promise.all([
    ...[script, collapse, graph].map(ended),
    pipeline(createInterface(script.stdout), withoutRoot, collapse.stdin),
    pipeline(collapse.stdout, graph.stdin),
    pipeline(graph.stdout, createWriteStream(path)),
  ])
  return path
}

/** Leave the local path of the sources out of the picture. */
async function* withoutRoot(lines: AsyncIterable<string>) {
  for await (const line of lines)
    yield `${line.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '')}\n`
}

async function ended(child: ChildProcess): Promise<void> {
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${child.spawnargs.slice(0, 2).join(' ')} ended with ${code}`)
}
