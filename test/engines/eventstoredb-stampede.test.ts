import t from 'tap'
import { noStream } from '../../packages/kernel/ports.ts'
import { newCategory, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import { peerAndStore, untilItWorks } from '../support/event-store/eventstoredb.ts'

const requests = 100
/** The look at what this process has seen, and at the metadata of one stream twice. */
const looksMost = 8

t.test('after a broken connection, many requests look at once whether the log is the same', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const stream = newStream(newCategory())
  await store.append(stream, noStream, newEvents(2))
  await store.readStream(stream, 0)
  peer.line.cut()
  await untilItWorks(() => store.ping())
  peer.reads = 0
  const read = await Promise.all(Array.from({ length: requests }, () => store.readStream(stream, 0)))
  t.ok(read.every(({ length }) => length === 2))
  t.ok(peer.reads <= requests + looksMost, `${peer.reads} reads for ${requests} requests`)
})

t.test('many requests for a stream that looks new share a look at its metadata', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const stream = newStream(newCategory())
  t.same(await store.readStream(stream, 0), [])
  peer.reads = 0
  await Promise.all(Array.from({ length: requests }, () => store.readStream(stream, 0)))
  t.ok(peer.reads <= requests + looksMost, `${peer.reads} reads for ${requests} requests`)
})

t.test('a look that had begun before a stream was deleted says nothing to whoever comes later', async (t) => {
  const { peer, store } = await peerAndStore(t)
  const stream = newStream(newCategory())
  await store.append(stream, noStream, newEvents(1))
  await store.readStream(stream, 0)
  const early = Array.from({ length: requests }, () => store.readStream(stream, 0))
  peer.log.delete(stream)
  const late = Array.from({ length: requests }, () => store.readStream(stream, 0))
  await Promise.allSettled(early)
  const damaged = { status: 'rejected', reason: { name: 'DamagedStreamError' } }
  t.match(
    await Promise.allSettled(late),
    late.map(() => damaged),
  )
})
