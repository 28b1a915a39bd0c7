import { spawn, type StdioPipe } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { rows } from './rows/index.ts'
import { openBench, scales } from './support/bench.ts'
import { root } from './support/root.ts'

/*
 * `make flame ROW=intent` draws where a row's time goes on all processors: Node, PostgreSQL and the kernel.
 * Needs Linux's `perf` and inferno (`cargo install inferno`); the Makefile tells V8 to name its code.
 */

const [name = ''] = process.argv.slice(2)
const row = rows.find((each) => each.name === name)
if (!row) throw new Error(`ROW must be one of ${rows.map((each) => each.name).join(', ')}`)

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

/** The samples as a picture beside the benchmarks; answers its path. */
async function draw(recorded: string): Promise<string> {
  const named = `${recorded}.named`
  await once(spawn('perf', ['inject', '--jit', '-i', recorded, '-o', named], { stdio: 'ignore' }), 'exit')
  const directory = join(root, 'bench', 'flames')
  mkdirSync(directory, { recursive: true })
  const path = join(directory, `${name}.svg`)
  const stdio: [StdioPipe, StdioPipe, 'ignore'] = ['pipe', 'pipe', 'ignore']
  const script = spawn('perf', ['script', '-i', named], { stdio })
  const collapse = spawn('inferno-collapse-perf', { stdio })
  const graph = spawn('inferno-flamegraph', ['--title', name, '--inverted', '--minwidth', '0.3'], { stdio })
  await Promise.all([
    pipeline(script.stdout, collapse.stdin),
    pipeline(collapse.stdout, graph.stdin),
    pipeline(graph.stdout, createWriteStream(path)),
  ])
  return path
}
