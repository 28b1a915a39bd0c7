import pg from 'pg'
import t, { type Test } from 'tap'
import { timedOut } from '../../infra/event-store/eventstoredb/errors.ts'
import { connectionOptions } from '../../infra/postgres/client/connect.ts'
import { LeadershipLostError } from '../../infra/postgres/consumers/fence.ts'
import { RailUnavailableError } from '../../packages/kernel/ports/rails.ts'
import { asRefusal } from '../../services/api/http/problem.ts'
import { isPassing } from '../../services/composition/observing/failures.ts'
import { testDatabase } from '../support/postgres.ts'

/** As gRPC reports it: its codes are numbers. */
function ofGrpc(code: number, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** As Postgres and the network report it. */
function ofNetwork(code: string): Error {
  return Object.assign(new Error('connect failed'), { code })
}

const away: Readonly<Record<string, Error>> = {
  'an EventStoreDB that is gone': ofGrpc(14, '14 UNAVAILABLE: No connection established'),
  'an EventStoreDB that is silent': ofGrpc(4, '4 DEADLINE_EXCEEDED: Deadline exceeded after 5.0s'),
  'an EventStoreDB that its client waits for in vain': timedOut(10_000),
  'a Postgres that shuts down': ofNetwork('57P01'),
  'a network without a way': ofNetwork('ECONNREFUSED'),
  'a thread for which there are no files or processes': ofNetwork('ERR_WORKER_INIT_FAILED'),
  'a thread for which there is no memory': ofNetwork('ERR_WORKER_OUT_OF_MEMORY'),
  'a Postgres that is gone': new Error('Connection terminated unexpectedly'),
}

for (const [engine, error] of Object.entries(away)) t.test(engine, async (t) => isTakenForAway(t, error))

t.test('a Postgres that is silent', async (t) => {
  const { url } = await testDatabase(t)
  const client = new pg.Client({ ...connectionOptions(url), query_timeout: 10 })
  await client.connect()
  t.teardown(() => client.end())
  const error: unknown = await client.query('select pg_sleep(60)').catch((error: unknown) => error)
  isTakenForAway(t, error)
})

function isTakenForAway(t: Test, error: unknown): void {
  const refusal = asRefusal(error)
  t.equal(refusal.reason, 'dependency_must_be_available', 'a request is told to come again')
  t.ok((refusal.details.retryAfterSeconds ?? 0) > 0, 'and when')
  t.ok(isPassing(error), 'what follows from events waits and is not parked')
}

t.test('a bug is neither', async (t) => {
  const bug = new TypeError('cannot read properties of undefined')
  t.equal(asRefusal(bug).reason, 'service_must_not_fail')
  t.notOk(isPassing(bug))
})

const passing: Readonly<Record<string, Error>> = {
  'a serialization failure': ofNetwork('40001'),
  'a deadlock': ofNetwork('40P01'),
  'a full disk': ofNetwork('53100'),
  'a disk that fails': ofNetwork('58030'),
  'a lock that is not free': ofNetwork('55P03'),
  'a statement that took too long': ofNetwork('57014'),
  'a server that has become a standby': ofNetwork('25006'),
  'an address that takes too long to be found': ofNetwork('EAI_AGAIN'),
  'an EventStoreDB that elects a leader': ofGrpc(2, '2 UNKNOWN: no leader'),
  'another leader': new LeadershipLostError('processes'),
  'an operator that is down': new RailUnavailableError('down'),
}

const poison: Readonly<Record<string, Error>> = {
  'a URL that cannot be read': ofNetwork('ERR_INVALID_URL'),
  'an argument of the wrong type': ofNetwork('ERR_INVALID_ARG_TYPE'),
  'a number out of range': ofNetwork('22003'),
  'text that is not UTF-8': ofNetwork('22021'),
  'a row that is there already': ofNetwork('23505'),
  'an index row that is too large': ofNetwork('54000'),
  'a table that does not exist': ofNetwork('42P01'),
  'an append that EventStoreDB takes for invalid': ofGrpc(3, '3 INVALID_ARGUMENT'),
  'a bug that throws nothing with a code': new Error('no'),
}

t.test('only what is known to pass is tried again', async (t) => {
  for (const [name, error] of Object.entries(passing)) t.ok(isPassing(error), name)
  for (const [name, error] of Object.entries(poison)) t.notOk(isPassing(error), name)
})
