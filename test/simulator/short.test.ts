import t from 'tap'
import { run } from './run.ts'
import { shrink } from './shrink.ts'
import type { Mistake } from './stage.ts'

const steps = 300
const stepsEnough = steps / 4

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
    const told = await shortFailure(mistake, seeds)
    if (!told) {
      t.fail(`${mistake} is found within ${seeds} seeds and told in ${stepsEnough} steps`)
      continue
    }
    const { seed, law, only } = told
    const again = await run({ seed, steps, mistake, faults, only })
    t.equal(again.violation?.law, law, `${mistake}: ${only.length} steps of seed ${seed} break ${law}`)
  }
})

/** Some histories hardly become shorter: which seed comes upon them depends on the order of all calls. */
async function shortFailure(mistake: Mistake, seeds: number) {
  for (let seed = 1; seed <= seeds; seed++) {
    const { violation } = await run({ seed, steps, mistake, faults })
    if (!violation) continue
    const only = await shrink({ seed, steps, mistake, faults, runsMax: 300 }, violation.law)
    if (only.length <= stepsEnough) return { seed, law: violation.law, only }
  }
  return undefined
}
