import file, { type Test } from 'tap'
import type { Broker, SecuredListener } from '../../infra/kafka/broker.ts'
import { brokerProcess } from './broker-process.ts'
import { temporaryDirectory } from './postgres.ts'

let broker: Promise<Broker> | undefined

/**
 * The address of a real broker: the one that `IKW_TEST_KAFKA` names, or one that is started once for this
 * test file. A machine without Java and Maven cannot run it, and the test fails with a sentence that says so.
 */
export async function testBroker(): Promise<string> {
  const given = process.env['IKW_TEST_KAFKA']
  return given ?? (await (broker ??= startTestBroker(file))).address
}

/** A broker of its own, for a test that ends it. */
export async function startTestBroker(
  t: Test,
  directory = temporaryDirectory(t),
  secured?: SecuredListener,
): Promise<Broker> {
  const started = await brokerProcess({ directory, port: 0, ...(secured && { secured }) })
  t.teardown(() => started.stop())
  return started
}
