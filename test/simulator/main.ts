import { run, type RunOptions } from './run.ts'
import { shrink } from './shrink.ts'

/*
 * make simulate SEED=7 STEPS=600             one history
 * make simulate SEED=7 STEPS=600 ONLY=3,8    some steps of it
 * make simulate SEEDS=1000                   many histories, from SEED on
 * make simulate … SHRINK=no                  only the seeds that fail, without the shortest history
 */

const given = process.argv.slice(2).map((argument) => argument.split('='))
const settings: ReadonlyMap<string, string> = new Map(given.map(([name = '', value = '']) => [name, value]))
const seed = Number(settings.get('SEED') || Math.floor(Date.now() / 1_000) % 1_000_000)
const seeds = Number(settings.get('SEEDS') || 1)
const steps = Number(settings.get('STEPS') || 300)
const only = settings.get('ONLY')?.split(',').filter(Boolean).map(Number)

const started = performance.now()
let events = 0
let failures = 0
for (let nth = 0; nth < seeds; nth++) {
  const options = { seed: seed + nth, steps, ...(only && only.length > 0 && { only }) }
  const result = await run(options)
  events += result.events
  if (!result.violation) continue
  failures++
  print(`seed ${options.seed} breaks ${result.violation.law}: ${result.violation.fact}`)
  print(`repeat it: make simulate SEED=${options.seed} STEPS=${steps}`)
  if (settings.get('SHRINK') !== 'no') await explain(options, result.violation.law)
  process.exitCode = 1
  if (failures === 5) break
}
const seconds = (performance.now() - started) / 1_000
print(
  `${seeds} ${seeds === 1 ? 'seed' : 'seeds'} from ${seed}, ${events} events, ${failures} failed, ${seconds.toFixed(1)} s`,
)

async function explain(options: RunOptions, law: string): Promise<void> {
  const shortest = await shrink(options, law)
  print(`the shortest history found has ${shortest.length} of ${steps} steps:`)
  print(`make simulate SEED=${options.seed} STEPS=${steps} ONLY=${shortest.join(',')}`)
  const { violation } = await run({ ...options, only: shortest, tell: print })
  if (violation) print(`=> ${violation.law}: ${violation.fact}\n`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
