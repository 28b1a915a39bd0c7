import t from 'tap'
import { cutConfirmations, killedBehindSilence, wokenAlone, type Fault } from './faults.ts'
import { run } from './run.ts'

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
    fault: wokenAlone('projector'),
    breaks: 'only who is elected writes as a leader',
  },
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
