import { Kafka, logLevel } from 'kafkajs'
import file, { type Test } from 'tap'
import { topic } from '../../../infra/event-bus/kafka.ts'
import { groupIdOf } from '../../../infra/event-bus/kafka-gaps.ts'
import type { Broker, SecuredListener } from '../../../infra/kafka/broker.ts'
import { brokerProcess } from '../processes/broker-process.ts'
import { temporaryDirectory } from '../postgres.ts'

let broker: Promise<Broker> | undefined

/**
 * The address of a real broker: the one in `IKW_TEST_KAFKA`, or one started once for this test file. Without
 * Java and Maven the test fails with a sentence that says so.
 */
export async function testBroker(): Promise<string> {
  const given = process.env['IKW_TEST_KAFKA']
  return given ?? (await (broker ??= startTestBroker(file))).address
}

/** A broker of its own, for a test that stops it. */
export async function startTestBroker(
  t: Test,
  directory = temporaryDirectory(t),
  secured?: SecuredListener,
): Promise<Broker> {
  const started = await brokerProcess({ directory, port: 0, ...(secured && { secured }) })
  t.teardown(() => started.stop())
  return started
}

/** As the broker does with what is older than its retention. */
export async function deleteMessages(): Promise<void> {
  const kafka = new Kafka({ brokers: [await testBroker()], logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const offsets = await admin.fetchTopicOffsets(topic)
  const partitions = offsets.map(({ partition, high }) => ({ partition, offset: high }))
  await admin.deleteTopicRecords({ topic, partitions })
  await admin.disconnect()
}

/** Where the broker knows a group to be, in each partition; -1 where it does not. */
export async function committed(group: string): Promise<readonly number[]> {
  const admin = new Kafka({ brokers: [await testBroker()], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const [known] = await admin.fetchOffsets({ groupId: groupIdOf(group), topics: [topic] })
  await admin.disconnect()
  return known!.partitions.map(({ offset }) => Number(offset))
}
