import t from 'tap'
import { cutConfirmations, killedBehindSilence, wokenAlone, type Fault } from './faults.ts'
import { run } from './run.ts'
import type { World } from './world.ts'

interface SeededBug {
  /** The fault that exposes it. */
  readonly fault: Fault
  readonly breaks: string
}

/** Each in another service, so that one run shows all; the short form has the same faults without them. */
const bugs: Readonly<Record<string, SeededBug>> = {
  'a relay that writes its checkpoint before it publishes': {
    fault: killedBehindSilence(),
    breaks: 'each event has a delivery for each matching endpoint',
  },
  'an API that repeats an append with other event ids': {
    fault: cutConfirmations(6),
    breaks: 'a refused request has left no trace',
  },
  'a projector that writes without a look at who leads': {
    fault: until(hasWrittenDeposed, wokenAlone('projector')),
    breaks: 'only who is elected writes as a leader',
  },
}

/** Who wakes up on a busy machine may be elected again before it has written anything. */
function until(isSeen: (world: World) => Promise<boolean>, { name, inject }: Fault, turnsMax = 5): Fault {
  return {
    name,
    inject: async (world) => {
      let injected = 0
      for (let turn = 0; turn < turnsMax && !(await isSeen(world)); turn++) injected += await inject(world)
      return injected
    },
  }
}

async function hasWrittenDeposed({ postgres }: World): Promise<boolean> {
  const { rowCount } = await postgres.pool.query(
    `select from audit where who like 'projector-%' and who is distinct from (
       select instance from elections where name = 'projector' and elections.at <= audit.at
       order by elections.at desc limit 1) limit 1`,
  )
  return rowCount !== 0
}

const files = {
  relay: 'test/faults/seeded/checkpoint-first',
  api: 'test/faults/seeded/new-event-ids',
  projector: 'test/faults/seeded/unfenced-projector',
}

/** What is lost never comes, so nobody waits for it for long. */
const settleMs = 10_000

const faults = Object.values(bugs).map(({ fault }) => fault)
const { violations, failures } = await run({ seed: 1, faults, settleMs, files })

for (const [bug, { fault, breaks }] of Object.entries(bugs)) {
  t.test(`the checker catches ${bug}`, async (t) => {
    const found = violations.find(({ law }) => law === breaks)
    t.ok(found, breaks, { failures })
    t.ok((found?.stages[fault.name] ?? 0) > 0, `during: ${fault.name}`)
  })
}
