import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startEmbeddedPostgres } from '../../infra/postgres/server/embedded.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { killPostgres, signalPostgres } from '../support/processes/postmaster.ts'
import { ServiceApart } from '../support/processes/service-apart.ts'

const file = 'test/support/processes/hanging-start'

/** A start of which one step takes for hours, on an embedded server. */
async function hangingStart(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const dataDirectory = temporaryDirectory(t)
  t.teardown(() => killPostgres(dataDirectory))
  const started = new ServiceApart(t, 'projector', { DATA_DIR: dataDirectory, ...settings }, { file })
  await started.port()
  return { started, runs: () => existsSync(join(dataDirectory, 'postgres/postmaster.pid')) }
}

t.test('a start that is told to end in the middle of a step leaves no database running', async (t) => {
  const { started, runs } = await hangingStart(t)
  t.ok(runs())
  t.strictSame([await started.end('SIGTERM'), started.errors], [0, ''])
  t.notOk(runs())
})

t.test('a start that fails in the middle of a step leaves no database running', async (t) => {
  const { started, runs } = await hangingStart(t, { REFUSED: 'yes' })
  t.strictSame([await started.ended, started.errors], [1, 'refused\n'])
  t.notOk(runs())
})

t.test('a start on a database that hangs says so', async (t) => {
  const directory = temporaryDirectory(t)
  const { stop } = await startEmbeddedPostgres({ directory })
  t.teardown(stop)
  signalPostgres(directory, 'SIGSTOP')
  t.teardown(() => signalPostgres(directory, 'SIGCONT'))
  const started = new ServiceApart(t, 'projector', { DATA_DIR: directory }, { file })
  t.equal(await started.ended, 1)
  t.match(started.errors, /^PostgreSQL in \S+ does not answer: [^\n]+\n$/)
})
