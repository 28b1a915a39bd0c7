import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { run, type RunOptions } from './run.ts'
import { shrink } from './shrink.ts'

/*
 * make simulate SEED=7 STEPS=600             one history
 * make simulate SEED=7 STEPS=600 ONLY=3,8    some steps of it
 * make simulate SEEDS=1000                   many histories, from SEED on, on all processors
 * make simulate … SHRINK=no                  only the seeds that fail, without the shortest history
 */

const given = process.argv.slice(2).map((argument) => argument.split('='))
const settings: ReadonlyMap<string, string> = new Map(given.map(([name = '', value = '']) => [name, value]))
const seed = Number(settings.get('SEED') || Math.floor(Date.now() / 1_000) % 1_000_000)
const seeds = Number(settings.get('SEEDS') || 1)
const steps = Number(settings.get('STEPS') || 300)
const only = settings.get('ONLY')?.split(',').filter(Boolean).map(Number)
/** A process that gets so many failures has seen enough. */
const failuresMax = 5

interface Counted {
  readonly seeds: number
  readonly events: number
  readonly failures: number
}

if (process.send) {
  const [nth = 0, of = 1] = settings.get('SHARE')?.split('/').map(Number) ?? []
  process.send(await simulate(nth, of))
} else {
  const started = performance.now()
  const processes = Math.min(availableParallelism(), seeds)
  const { events, failures, ...done } = processes > 1 ? await shared(processes) : await simulate(0, 1)
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  const many = `${done.seeds} ${done.seeds === 1 ? 'seed' : 'seeds'} from ${seed}`
  print(`${many}, ${events} events, ${failures} failed, ${seconds} s`)
  if (failures > 0) process.exitCode = 1
}

/** Each process takes every so manyth seed. */
async function shared(processes: number): Promise<Counted> {
  const shares = await Promise.all(
    Array.from({ length: processes }, async (_, nth) => {
      const settingsOfShare = [...process.argv.slice(2), `SEED=${seed}`, `SHARE=${nth}/${processes}`]
      const child = fork(process.argv[1]!, settingsOfShare)
      const ended = once(child, 'exit').then(([code]) => {
        throw new Error(`a process of the simulator ended with code ${code}`)
      })
      const [counted] = (await Promise.race([once(child, 'message'), ended])) as [Counted]
      child.disconnect()
      return counted
    }),
  )
  const sum = (of: keyof Counted) => shares.reduce((total, share) => total + share[of], 0)
  return { seeds: sum('seeds'), events: sum('events'), failures: sum('failures') }
}

async function simulate(nth: number, of: number): Promise<Counted> {
  let done = 0
  let events = 0
  let failures = 0
  for (let next = nth; next < seeds && failures < failuresMax; next += of) {
    const options = { seed: seed + next, steps, ...(only && only.length > 0 && { only }) }
    const result = await run(options)
    done++
    events += result.events
    if (!result.violation) continue
    failures++
    print(`seed ${options.seed} breaks ${result.violation.law}: ${result.violation.fact}`)
    print(`repeat it: make simulate SEED=${options.seed} STEPS=${steps}`)
    if (settings.get('SHRINK') !== 'no') await explain(options, result.violation.law)
  }
  return { seeds: done, events, failures }
}

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
