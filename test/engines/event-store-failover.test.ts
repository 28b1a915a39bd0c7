import type pg from 'pg'
import t from 'tap'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { noStream } from '../../packages/kernel/ports.ts'
import {
  Follower,
  ids,
  newCategory,
  newEvents,
  newStream,
} from '../support/event-store/event-store-samples.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

t.test(
  'a failover to a standby that lags ends a process, and nothing is done about what is gone',
  async (t) => {
    const { url, pool } = await testDatabase(t)
    const lost: Error[] = []
    const store = await openEmbeddedStore({ url, onLogWentBack: (error) => lost.push(error) })
    t.teardown(() => store.close())
    const category = newCategory()
    const follower = new Follower(store, { after: 0, batchSize: 100 })
    const stream = newStream(category)
    await store.append(stream, noStream, newEvents(1))
    await follower.received(1)
    // From now on a subscription finds what is new in memory.
    await store.append(stream, 0, newEvents(9))
    await follower.received(10)
    // What the standby has not got yet, and others write in its place.
    await pool.query('delete from events where position > 5')
    const other = await openEmbeddedStore({ url })
    t.teardown(() => other.close())
    await other.append(newStream(category), noStream, newEvents(8))
    await disconnectAll(pool)
    await eventually(
      async () => lost.length,
      (count) => count > 0,
    )
    t.match(lost[0], { name: 'LogWentBackError', message: /the event at position 10 any more/ })
    await t.rejects(store.append(stream, 9, newEvents(1)), { name: 'StoreOverloadedError' })
    const late = new Follower(store, { after: 1, batchSize: 100 })
    await t.rejects(store.readStream(stream, 0), { name: 'LogWentBackError' })
    await follower.close()
    t.equal(follower.events.length, 10, 'what took the place of events that are gone is not handed over')
    t.same(late.events, [], 'nor are they themselves, from memory')
    await late.close()
  },
)

t.test('a failover to a standby that has everything goes on where it was', async (t) => {
  const { url, pool } = await testDatabase(t)
  const store = await openEmbeddedStore({ url })
  t.teardown(() => store.close())
  const category = newCategory()
  const follower = new Follower(store, { after: 0, batchSize: 100 })
  const stream = newStream(category)
  await store.append(stream, noStream, newEvents(10))
  await follower.received(10)
  await disconnectAll(pool)
  const [other, events] = [newStream(category), newEvents(3)]
  // Until the store has noticed, it does not know what comes of it.
  await eventually(
    () => store.append(other, noStream, events).catch(() => undefined),
    (appended) => appended !== undefined,
  )
  await follower.received(13)
  await follower.close()
  t.same(ids(follower.events), ids(await store.readAll(0, 100)))
})

/** All that others have open, as when their server is gone. */
function disconnectAll(pool: pg.Pool): Promise<unknown> {
  return pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`)
}
