import t from 'tap'
import { run } from './run.ts'
import { shrink } from './shrink.ts'
import type { Mistake } from './stage.ts'

t.setTimeout(120_000)

const steps = 300

t.test('random histories with crashes, duplicates and delays break no law', async (t) => {
  for (let seed = 1; seed <= 40; seed++) {
    const { violation } = await run({ seed, steps })
    t.equal(violation, undefined, `make simulate SEED=${seed} STEPS=${steps}`)
  }
})

t.test('a seed always makes the same history', async (t) => {
  const once: string[] = []
  const again: string[] = []
  for (const lines of [once, again]) await run({ seed: 7, steps, tell: (line) => void lines.push(line) })
  t.ok(once.length > 50)
  t.strictSame(once, again)
})

/** With these faults each mistake is met often. */
const faults = { instant: 0.3, crash: 0.05, deposition: 0.05, unknownAppend: 0.2, brokenWrite: 0.1 }

/** How many seeds it takes at most until each mistake is seen. */
const seedsUntilFound: Readonly<Record<Mistake, number>> = {
  'checkpoint before work': 40,
  'new ids on repeat': 10,
  'projector without fence': 10,
}

t.test('a mistake that is made on purpose is found, and told by a shorter history', async (t) => {
  for (const [mistake, seeds] of Object.entries(seedsUntilFound) as [Mistake, number][]) {
    const found = await firstFailure(mistake, seeds)
    if (!found) {
      t.fail(`${mistake} is found within ${seeds} seeds`)
      continue
    }
    const { seed, law } = found
    const only = await shrink({ seed, steps, mistake, faults, runsMax: 200 }, law)
    const again = await run({ seed, steps, mistake, faults, only })
    t.equal(again.violation?.law, law, `${mistake}: seed ${seed} breaks ${law}`)
    t.ok(only.length < steps / 4, `${mistake}: ${only.length} steps are left`)
  }
})

async function firstFailure(mistake: Mistake, seeds: number) {
  for (let seed = 1; seed <= seeds; seed++) {
    const { violation } = await run({ seed, steps, mistake, faults })
    if (violation) return { seed, law: violation.law }
  }
  return undefined
}
