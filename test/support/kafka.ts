import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import file, { type Test } from 'tap'
import { startBroker, type Broker } from '../../infra/kafka/broker.ts'
import { temporaryDirectory } from './postgres.ts'

const here = dirname(fileURLToPath(import.meta.url))

/** Fetched once for this copy of the sources, also for `make kafka`. */
export const brokerJars = join(here, here.includes('/dist/') ? '../../..' : '../..', '.data', 'kafka-jars')

let broker: Promise<Broker> | undefined

/**
 * The address of a real broker: the one that `IKW_TEST_KAFKA` names, or one that is started once for this
 * test
 * file. A machine without Java and Maven cannot run it, and the test fails with a sentence that says so.
 */
export async function testBroker(): Promise<string> {
  const given = process.env['IKW_TEST_KAFKA']
  return given ?? (await (broker ??= startTestBroker(file))).address
}

/** A broker of its own, for a test that ends it. */
export async function startTestBroker(t: Test, directory = temporaryDirectory(t)): Promise<Broker> {
  const started = await startBroker({ directory, jars: brokerJars, port: 0 })
  endWithUs(started.pid)
  t.teardown(() => started.stop())
  return started
}

/** A test that is killed tears nothing down, but its pipe is closed. */
function endWithUs(pid: number): void {
  const script = 'read _; kill "$1"'
  const watch = spawn('sh', ['-c', script, 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.unref()
}
