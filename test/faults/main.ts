import { seeded } from '../support/random.ts'
import { Ends } from '../support/processes/ending.ts'
import {
  brokerKilled,
  calm,
  cut,
  cutConfirmations,
  cutOff,
  killed,
  killedAmidTransfers,
  killedBehindSilence,
  leaderChanged,
  lines,
  postgresKilled,
  serverLate,
  slowDisk,
  slowNetwork,
  stopped,
  wokenAlone,
  together,
} from './faults.ts'
import { led, services } from './fleet.ts'
import { livePeople } from './people.ts'
import { run, type RunOptions } from './run.ts'
import { complaintsOf, tableOf } from './table.ts'

/** `make test-distributed`: every fault, alone and together. SEED repeats what chance has chosen. */
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const only = process.env['ONLY'] ?? ''

const faults = [
  calm,
  ...services.map((service) => killed(service)),
  killedAmidTransfers(),
  ...services.map((service) => stopped(service)),
  ...led.map((service) => wokenAlone(service)),
  ...lines.map((line) => cut(line)),
  cutConfirmations(6),
  killedBehindSilence(),
  slowDisk(100),
  slowNetwork('postgres', 40),
  slowNetwork('broker', 300),
  slowNetwork('rail', 500),
  postgresKilled(),
  brokerKilled(),
  together(4, seeded(seed)),
]

/** The same laws where the log is not on Postgres: what depends on that store, and what stands beside it. */
const faultsOnEventStoreDb = [
  cut('event store'),
  cutOff(),
  leaderChanged(),
  serverLate('processes'),
  cutConfirmations(6),
  slowNetwork('event store', 100),
  killed('api', 1),
  killedAmidTransfers(1),
  stopped('processes'),
  postgresKilled(1),
]

/** Of people, each with every fault. */
const rounds = 3

const ends = new Ends()
const startedAt = performance.now()
const seconds = () => `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`.padStart(6)
const say = (line: string) => void process.stdout.write(`${line}\n`)

/** Answers how many laws are broken. */
async function carryOut(title: string, options: Omit<RunOptions, 'seed' | 'onStage'>): Promise<number> {
  const chosen = options.faults.filter(({ name }) => `${title}: ${name}`.includes(only))
  if (chosen.length === 0) return 0
  say(`\n${title}`)
  const onStage = (name: string) => say(`${seconds()}  ${name}`)
  const report = await run({ ...options, faults: chosen, seed, onStage, ends })
  for (const casualty of report.casualties) say(`ended by itself and was started again: ${casualty}`)
  say(`\n${tableOf(report.rows)}\n`)
  const complaints = complaintsOf(report)
  for (const complaint of complaints) say(complaint)
  return complaints.length
}

/** Answers how much is not as people were told. */
async function live(title: string): Promise<number> {
  if (!title.includes(only)) return 0
  say(`\n${title}`)
  const { tally, complaints } = await livePeople(ends, rounds).finally(() => ends.run())
  say(`${seconds()}  ${JSON.stringify(tally)}`)
  for (const complaint of complaints) say(complaint)
  return complaints.length
}

// Engines outlive who started them, unless they are told to end.
process.once('SIGINT', () => void ends.run().then(() => process.exit(130)))

say(`SEED=${seed}`)
const broken =
  (await carryOut('events on Postgres', { faults })) +
  (await carryOut('events on EventStoreDB', { faults: faultsOnEventStoreDb, isOnEventStoreDb: true })) +
  (await live('people who sign in and out'))
say(broken === 0 ? 'nothing is lost, and nothing is doubled' : `${broken} laws are broken`)
process.exit(broken === 0 ? 0 : 1)
