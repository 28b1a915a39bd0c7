import t from 'tap'
import { requestRetry } from '../../infra/postgres/consumers/parked.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { owns } from '../../packages/kernel/owner.ts'
import { startProcesses } from '../../services/processes/runner/main.ts'
import {
  countingForReaders,
  diary,
  poisoned,
  readers,
  sharedTally,
  type TallyEvents,
} from '../support/load/diary.ts'
import { eventually } from '../support/eventually.ts'
import { openParts, parkedStreams, take } from '../support/event-store/parking.ts'

t.test('a policy for another owner is parked by whom its commands are for', async (t) => {
  const parts = await openParts(t)
  const { dependencies, postgres } = parts.runtime
  const { pool } = postgres
  const [reader, other] = [dependencies.newId(), dependencies.newId()]
  const [ill, well, others] = [dependencies.newId(), dependencies.newId(), dependencies.newId()]
  readers.set(ill, reader).set(well, reader).set(others, other)
  const running = await startProcesses({
    dependencies,
    pool,
    deciders: [diary, sharedTally],
    policies: [countingForReaders],
    processes: [],
  })
  t.teardown(() => running.close())
  const counted = async (id: string) => {
    const events = await dependencies.store.readStream(streamName('shared_tally', id), 0)
    t.ok(events.every(({ metadata }) => owns(metadata, { user: id })))
    return events.map(({ data }) => (data as TallyEvents['NoteCounted']).number)
  }
  const reaching = (id: string, numbers: readonly number[]) =>
    eventually(
      () => counted(id),
      (now) => now.length >= numbers.length,
    ).then((now) => t.strictSame(now, numbers))
  const parkedBy = (names: readonly string[]) =>
    eventually(
      () => parkedStreams(parts),
      (streams) => streams.length === names.length && streams.every((one) => names.includes(one)),
    )
  const name = 'policies counting_for_readers'

  poisoned.add(ill)
  await take(parts, ill, [0, 1])
  await take(parts, well, [2])
  await take(parts, others, [3])
  await reaching(other, [3])
  await parkedBy([ill, well].map((id) => `${name} of user ${reader} | ${streamName('diary', id)}`))
  t.strictSame(await counted(reader), [0], 'another merchant’s event for the same user waits behind')

  readers.set(others, new Error('it cannot be told'))
  await take(parts, others, [4])
  await eventually(
    () => parkedStreams(parts),
    (streams) => streams.includes(`${name} | ${streamName('diary', others)}`),
  )
  const last = dependencies.newId()
  readers.set(last, last)
  await take(parts, last, [5])
  await eventually(
    () => parkedStreams(parts),
    (streams) => streams.includes(`${name} | ${streamName('diary', last)}`),
  )
  t.strictSame(await counted(last), [], 'where nobody knows for whom, all wait')

  readers.set(others, other)
  await requestRetry(pool, streamName('diary', others))
  await reaching(other, [3, 4])
  await reaching(last, [5])
  poisoned.delete(ill)
  await requestRetry(pool)
  await reaching(reader, [0, 1, 2])
  await parkedBy([])
})
