import t from 'tap'
import {
  brokerKilled,
  cut,
  cutConfirmations,
  killed,
  killedAmidTransfers,
  killedBehindSilence,
  postgresKilled,
  slowDisk,
  stopped,
} from './faults.ts'
import { run } from './run.ts'
import { complaintsOf, tableOf } from './table.ts'
import { lawOver } from '../support/law.ts'

/** A short form of `make test-distributed`. What takes longest to be given up by others comes first. */
const faults = [
  killed('webhooks', 1),
  cut('rail', 4),
  killed('processes', 1),
  killedAmidTransfers(2),
  cut('event store', 4),
  cutConfirmations(4),
  postgresKilled(1),
  killed('api', 1),
  stopped('projector'),
  killedBehindSilence(),
  slowDisk(50),
  brokerKilled(1),
]

t.test('services apart lose and double nothing while they and their engines fail', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  t.comment(`SEED=${seed}`)
  const report = await run({ seed, faults })
  for (const line of tableOf(report.rows).split('\n')) t.comment(line)
  t.strictSame(complaintsOf(report), [])
  await lawOver(t, report.rows, ({ fault, injected, acknowledged }) => {
    t.ok(injected > 0, `${fault}: ${injected} times`)
    t.ok(acknowledged > 0, `${fault}: ${acknowledged} acknowledged`)
  })
})
