import { fork } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream, type StoredEvent } from '../../packages/kernel/ports.ts'
import { nodeArguments } from '../support/processes/child-process.ts'
import {
  Follower,
  ids,
  misplaced,
  newCategory,
  newEvents,
  newStream,
} from '../support/event-store/event-store-samples.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'

const consumers = 4
const appends = { count: 2_000, inFlight: 64 }
const eventsEach = 2
const behindMostMs = 1_000
/** What others write at once: more than the server keeps for a consumer that has not taken it. */
const burst = { events: 200, perTurn: 200, everyMs: 0 }
const burstsMost = 100
const burstCategory = 'payout'

/** A server as a process of its own, as every server is. */
async function serve(t: Test) {
  const [file, ...before] = nodeArguments('test/support/eventstoredb-peer/serve').toReversed()
  const server = fork(file!, [], {
    execArgv: before.toReversed(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.teardown(() => server.disconnect())
  const [{ url }] = (await once(server, 'message')) as [{ readonly url: string }]
  return { url, writeBurst: () => void server.send(burst) }
}

t.test('as many appends as the server takes leave no consumer a second behind', async (t) => {
  const { url, writeBurst } = await serve(t)
  const [store, writer] = await Promise.all([openEventStoreDb({ url }), openEventStoreDb({ url })])
  t.teardown(() => Promise.all([store.close(), writer.close()]))
  const category = newCategory()
  /** By stream: when the server had acknowledged it. Consumers may be faster than the acknowledgement. */
  const writtenAt = new Map<string, number>()
  let behindMs = 0
  /** On a machine that is busy with something else, an append is the measure of how busy. */
  let slowestMs = 0
  const burstEvents = { written: 0, handled: 0 }
  const handle = async (events: readonly StoredEvent[]) => {
    const now = performance.now()
    for (const { stream } of events) {
      if (stream.startsWith(`${burstCategory}-`)) burstEvents.handled++
      behindMs = Math.max(behindMs, now - (writtenAt.get(stream) ?? now))
    }
  }
  const categories = [category, burstCategory]
  const options = { after: await store.head(), batchSize: 500, categories, handle }
  const followers = Array.from({ length: consumers }, () => new Follower(store, options))

  let left = appends.count
  const append = async () => {
    while (left-- > 0) {
      const stream = newStream(category)
      const begunAt = performance.now()
      await writer.append(stream, noStream, newEvents(eventsEach))
      writtenAt.set(stream, performance.now())
      slowestMs = Math.max(slowestMs, performance.now() - begunAt)
    }
  }
  const untilCutOff = async () => {
    for (let count = 0; store.counts().timesCutOff === 0 && count < burstsMost; count++) {
      writeBurst()
      burstEvents.written += burst.events
      await eventually(
        async () => burstEvents.handled,
        (handled) => handled === burstEvents.written * consumers,
      )
    }
  }
  // So that the load meets a process that was cut off, and not one that nothing has happened to.
  await untilCutOff()
  await Promise.all(Array.from({ length: appends.inFlight }, append))
  const all = appends.count * eventsEach + burstEvents.written
  await Promise.all(followers.map((follower) => follower.received(all)))
  await Promise.all(followers.map((follower) => follower.close()))

  const most = behindMostMs + 3 * slowestMs
  t.ok(behindMs < most, `${Math.round(behindMs)} ms behind, and an append took ${Math.round(slowestMs)} ms`)
  t.ok(store.counts().timesCutOff > 0, 'although the server has cut this process off')
  const [first, ...others] = followers.map(({ events }) => events)
  t.equal(first!.length, all)
  t.strictSame(misplaced(first!), [])
  await lawOver(t, others, (events) => t.strictSame(ids(events), ids(first!)))
})
