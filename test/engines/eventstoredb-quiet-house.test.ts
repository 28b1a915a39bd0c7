import t from 'tap'
import { noStream } from '../../packages/kernel/ports.ts'
import { Follower, ids, newCategory, newEvents, newStream } from '../support/event-store-samples.ts'
import { peerAndStore, untilItWorks } from '../support/eventstoredb.ts'

const ofOthers = 20_000
/** The server may look at some of the events of others that come meanwhile. */
const searchedMost = 500

t.test(
  'on a busy server a quiet house does not search what others have written again and again',
  async (t) => {
    const category = newCategory()
    const { peer, store } = await peerAndStore(t, { categories: [category] })
    const ours = newEvents(2)
    const first = await store.append(newStream(category), noStream, ours.slice(0, 1))
    peer.writeSystemEvents(ofOthers)
    t.equal(await store.head(), first.position, 'searched once')
    t.equal(await store.head(), first.position)

    const searched = async (what: string, work: () => Promise<void>) => {
      const before = peer.log.searched
      peer.writeSystemEvents(10)
      await work()
      const count = peer.log.searched - before
      t.ok(count < searchedMost, `${what}: ${count} records searched`)
    }
    await searched('the head', async () => {
      t.equal(await store.head(), first.position)
    })
    const after = first.position
    const follower = new Follower(store, { after, batchSize: 10, categories: [category] })
    await searched('a subscription', () => peer.until(({ subscribedAfter }) => subscribedAfter.length > 0))
    await searched('the next event', async () => {
      await store.append(newStream(category), noStream, ours.slice(1))
      await follower.received(1)
    })
    await searched('the next subscription', async () => {
      peer.endSubscriptions()
      await peer.until(({ subscribedAfter }) => subscribedAfter.length > 1)
    })
    await follower.close()
    t.same(ids(follower.events), ids(ours.slice(1)))
    t.same(ids(await store.readAll(0, 10)), ids(ours), 'and nothing is left out')
  },
)

t.test('what was searched on one server says nothing about another', async (t) => {
  const category = newCategory()
  const { peer, store } = await peerAndStore(t, { categories: [category] })
  const { position } = await store.append(newStream(category), noStream, newEvents(1))
  peer.writeSystemEvents(1_000)
  for (const _ of [1, 2]) await store.head()
  // An older copy that has our event, but not all that others have written since.
  peer.log.goBackTo(position)
  peer.line.cut()
  const late = newEvents(1)
  await untilItWorks(() => store.append(newStream(category), noStream, late))
  t.same(ids(await store.readAll(position, 10)), ids(late))
})
