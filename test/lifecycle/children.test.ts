import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Child, type ChildOptions } from '../../services/distributed/child.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { nodeArguments } from '../support/processes/child-process.ts'

const patienceMs = 30_000

/** A child that ends when it may, and the files by which it says how far it is. */
function unhurried(t: Test, stopping: Pick<ChildOptions, 'drainSeconds' | 'stopMostMs'>) {
  const directory = temporaryDirectory(t)
  const file = nodeArguments('test/support/processes/unhurried-process').at(-1)!
  const child = new Child({ name: 'unhurried', file, environment: { DIRECTORY: directory }, ...stopping })
  const mayEnd = () => writeFileSync(join(directory, 'end'), '')
  t.teardown(() => {
    mayEnd()
    return child.stop().catch(() => undefined)
  })
  const until = (step: 'ready' | 'told') =>
    eventually(
      async () => existsSync(join(directory, step)),
      (is) => is,
      patienceMs,
    )
  return { child, mayEnd, until }
}

t.test('a child that is told to end may serve on for as long as its own settings say', async (t) => {
  const { child, mayEnd, until } = unhurried(t, { drainSeconds: 300, stopMostMs: 0 })
  await until('ready')
  const stopped = child.stop()
  await until('told')
  mayEnd()
  await t.resolves(stopped)
})

t.test('a child that does not end in time is killed, and named', async (t) => {
  const { child, until } = unhurried(t, { drainSeconds: 0, stopMostMs: 0 })
  await until('ready')
  await t.rejects(child.stop(), { message: 'unhurried did not end by itself' })
})

t.test('a child that cannot be started is tried again', async (t) => {
  const { execPath } = process
  t.teardown(() => (process.execPath = execPath))
  process.execPath = join(temporaryDirectory(t), 'node')
  const { until } = unhurried(t, { drainSeconds: 0, stopMostMs: 0 })
  process.execPath = execPath
  await until('ready')
})
