import type pg from 'pg'
import t from 'tap'
import { ParkedEvents, requestRetry, type ParkedPlace } from '../../infra/postgres/consumers/parked.ts'
import { answerRequests, parkedEvent } from '../../infra/postgres/consumers/retries.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { policy, to } from '../../packages/kernel/policy.ts'
import { startProcesses } from '../../services/processes/runner/main.ts'
import { PolicyRunner } from '../../services/processes/runner/policies.ts'
import { diary, poisoned, tally, type NoteEvents, type TallyEvents } from '../support/load/diary.ts'
import { eventually } from '../support/eventually.ts'
import { openParts, parkedStreams, take } from '../support/event-store/parking.ts'
import { openLog } from '../support/event-store/shared-log.ts'
import { testDatabase } from '../support/postgres.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

t.test('a command that a stream refused is not lost while its policy throws for a later event', async (t) => {
  const parts = await openParts(t)
  const { dependencies, postgres } = parts.runtime
  let isIll = true
  const counting = policy<NoteEvents>('counting', {
    NoteTaken: ({ id, data }) => {
      if (isIll && data.number === 2) throw new Error('ill')
      return [to(tally, id, { type: 'CountNote', data })]
    },
  })
  const running = await startProcesses({
    dependencies,
    pool: postgres.pool,
    deciders: [diary, tally],
    policies: [counting],
    processes: [],
  })
  t.teardown(() => running.close())
  const id = dependencies.newId()
  const [byTally, byPolicy] = [`policies ${streamName('tally', id)}`, `policies counting of ${id}.test`]
  const parkedBy = (consumers: readonly string[]) =>
    eventually(
      async () => new Set((await parkedStreams(parts)).map((one) => one.split(' | ')[0])),
      (now) => now.size === consumers.length && consumers.every((one) => now.has(one)),
    )
  const counted = async () => {
    const events = await dependencies.store.readStream(streamName('tally', id), 0)
    return events.map(({ data }) => (data as TallyEvents['NoteCounted']).number)
  }

  // Its tally refuses 1, and the policy throws for 2.
  poisoned.add(id)
  await take(parts, id, [0, 1, 2, 3])
  await parkedBy([byTally, byPolicy])
  poisoned.delete(id)
  await requestRetry(postgres.pool)
  await parkedBy([byPolicy])
  t.strictSame(await counted(), [0, 1])
  isIll = false
  await requestRetry(postgres.pool)
  await parkedBy([])
  t.strictSame(await counted(), [0, 1, 2, 3])
})

t.test('an event that is parked twice is done for both, whoever comes first', async (t) => {
  const { log, store, process } = openLog()
  const { pool } = await testDatabase(t)
  const executor = process()
  const id = '0190a1b2-0000-7000-8000-00000000000a'
  const envelope = { merchant: id, livemode: false, actor: 'test', correlation: 'test' }
  await executor.send(diary, id, { type: 'TakeNote', data: { number: 1 } }, envelope)
  let isIll = true
  const counting = (name: string, of: (number: number) => number) =>
    policy<NoteEvents>(name, {
      NoteTaken: ({ data: { number } }) => [
        to(tally, id, { type: 'CountNote', data: { number: of(number) } }),
      ],
    })
  const refused = counting('refused', (number) => number)
  const throwing = counting('throwing', (number) => {
    if (isIll) throw new Error('ill')
    return 100 + number
  })
  const parked = new ParkedEvents(pool, 'policies')
  const deciders = new Map([[diary.category, diary]])
  const policies = [refused, throwing]
  const runner = new PolicyRunner({ policies, deciders, executor, parked, log: silent })
  poisoned.add(id)
  await runner.handle(log.behind(0, 1))
  const targets = [streamName('tally', id), `throwing of ${id}.test`]
  t.strictSame(
    targets.filter((target) => parked.has(target)),
    targets,
  )
  poisoned.delete(id)
  isIll = false
  await requestRetry(pool)
  const steps: string[] = []
  const watched = {
    retryRequests: () => parked.retryRequests(),
    eventsOf: (target: string) => parked.eventsOf(target),
    async release(target: string, event: ParkedPlace) {
      await parked.release(target, event)
      steps.push(target)
    },
  }
  const retry = async (target: string, place: ParkedPlace) => {
    steps.push(target)
    await runner.retry(target, await parkedEvent(store, place))
  }
  await answerRequests({ parked: watched, retry }, silent)
  const [first, , second] = steps
  t.strictSame(steps, [first, first, second, second], 'one after the other')
  t.notOk(targets.some((target) => parked.has(target)))
  const { state } = await executor.current(tally, id)
  t.same(new Set(state.numbers), new Set([1, 101]))
})

const gone: Readonly<Record<string, (pool: pg.Pool, stream: string, id: string) => Promise<unknown>>> = {
  'is gone': (pool, stream) => pool.query('delete from events where stream = $1 and revision = 0', [stream]),
  'has another one in its place': (pool, stream, id) =>
    pool.query('update events set id = $2 where stream = $1 and revision = 0', [stream, id]),
}

for (const [what, lose] of Object.entries(gone)) {
  t.test(`what is parked for an event that ${what} is not taken for done`, async (t) => {
    const parts = await openParts(t)
    const { dependencies, postgres } = parts.runtime
    const { executor, store, newId } = dependencies
    const id = newId()
    await take(parts, id, [1, 2])
    const counting = policy<NoteEvents>('counting', {
      NoteTaken: ({ data }) => [to(tally, id, { type: 'CountNote', data })],
    })
    const parked = new ParkedEvents(postgres.pool, 'policies')
    const deciders = new Map([[diary.category, diary]])
    const runner = new PolicyRunner({ policies: [counting], deciders, executor, parked, log: silent })
    const note = streamName('diary', id)
    poisoned.add(id)
    await runner.handle(await store.readStream(note, 0, 1))
    poisoned.delete(id)
    await lose(postgres.pool, note, newId())
    await requestRetry(postgres.pool)
    const told: unknown[] = []
    const log = { ...silent, warn: (context: object) => void told.push(context) }
    const retry = async (target: string, place: ParkedPlace) =>
      runner.retry(target, await parkedEvent(store, place))
    await answerRequests({ parked, retry }, log)
    const target = streamName('tally', id)
    t.ok(parked.has(target))
    t.match(told, [{ target, error: { message: `event 0 of ${note} is gone` } }])
    t.equal(
      (await executor.current(tally, id)).state.numbers.length,
      0,
      'nor is the one after it taken for it',
    )
  })
}
