import t from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream } from '../../packages/kernel/ports.ts'
import { ownStreams } from '../../services/composition/own-streams.ts'
import { ids, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import type { Log } from '../support/eventstoredb-peer/log.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { peerAndStore, untilItWorks } from '../support/event-store/eventstoredb.ts'
import { lawOver } from '../support/law.ts'

const history = 'history-of-this-log'

interface Damage {
  readonly name: string
  readonly inflict: (log: Log, stream: string) => void
  /** Nothing of it can be seen without its metadata. */
  readonly looksNew?: true
}

const damages: readonly Damage[] = [
  { name: 'soft-deleted', inflict: (log, stream) => log.delete(stream), looksNew: true },
  { name: 'tombstoned', inflict: (log, stream) => log.tombstone(stream) },
  { name: 'cut by $tb', inflict: (log, stream) => log.setMetadata(stream, { $tb: 2 }) },
  { name: 'cut to nothing by $tb', inflict: (log, stream) => log.setMetadata(stream, { $tb: 3 }) },
  { name: 'cut by $maxCount', inflict: (log, stream) => log.setMetadata(stream, { $maxCount: 1 }) },
  { name: 'hidden by $maxAge', inflict: (log, stream) => log.setMetadata(stream, { $maxAge: 60 }) },
]

const scavenges = { 'a damaged stream': false, 'a damaged stream, scavenged since,': true }

for (const [what, isScavenged] of Object.entries(scavenges))
  t.test(`${what} of each category is refused, and never begun anew`, async (t) => {
    const { peer, store } = await peerAndStore(t, ownStreams)
    const rows = ownStreams.categories.flatMap((category) =>
      damages.map((damage) => ({ category, stream: newStream(category), ...damage })),
    )
    for (const { stream, inflict } of rows) {
      await store.append(stream, noStream, newEvents(3))
      inflict(peer.log, stream)
    }
    // All of what has an age is too old by now.
    peer.log.clockAheadMs = 3_600_000
    if (isScavenged) peer.log.scavenge()
    const other = await openEventStoreDb({ url: peer.url, ...ownStreams })
    t.teardown(() => other.close())
    const damaged = { name: 'DamagedStreamError' }
    await lawOver(t, rows, async ({ name, category, stream, looksNew }) => {
      const title = `${name}: ${stream}`
      const isShortLived = ownStreams.shortLived.includes(category)
      const before = peer.log.stream(stream)!.length
      if (looksNew && isShortLived) {
        t.same(await other.readStream(stream, 0), [], title)
        // The server takes it for a new one; the answer tells.
        return t.rejects(other.append(stream, noStream, newEvents(1)), damaged, title)
      }
      await t.rejects(other.readStream(stream, 0), damaged, title)
      await t.rejects(other.append(stream, noStream, newEvents(1)), title)
      t.equal(peer.log.stream(stream)!.length, before, title)
    })
    const named = new Set((await other.irregularities()).map(({ stream }) => stream))
    await other.readAll(0, 10_000)
    for (const { stream } of await other.irregularities()) named.add(stream)
    await lawOver(t, rows, ({ stream, name }) => t.ok(named.has(stream), `${name} is named`))
  })

t.test('a stream begun anew is damaged, however its first append is answered', async (t) => {
  const { peer, store } = await peerAndStore(t, ownStreams)
  // It has never seen the stream.
  const other = await openEventStoreDb({ url: peer.url, ...ownStreams })
  t.teardown(() => other.close())
  const answers = ['answer lost', 'called a conflict', 'position left out'] as const
  await lawOver(t, answers, async (fault) => {
    const [stream, events] = [newStream('payout'), newEvents(1)]
    await store.append(stream, noStream, newEvents(3))
    peer.log.delete(stream)
    peer.failNextAppend({ fault })
    const append = () => other.append(stream, noStream, events)
    const first = await append().catch((error: Error) => error)
    t.equal(peer.log.stream(stream)!.length, 4, `${fault}: it was written`)
    // Whoever does not know the outcome asks again with the same events.
    const isUnknown = 'name' in first && first.name === 'OutcomeUnknownError'
    const last = isUnknown ? await append().catch((error: Error) => error) : first
    t.match(last, { name: 'DamagedStreamError' }, fault)
    t.equal(isUnknown, fault === 'answer lost')
  })
})

t.test('a long-lived stream that is deleted while a process knows it never looks new', async (t) => {
  const { peer, store } = await peerAndStore(t, ownStreams)
  const longLived = ownStreams.categories.filter((category) => !ownStreams.shortLived.includes(category))
  const damaged = { name: 'DamagedStreamError' }
  await lawOver(t, longLived, async (category) => {
    const [read, begun] = [newStream(category), newStream(category)]
    for (const stream of [read, begun]) {
      await store.append(stream, noStream, newEvents(3))
      t.equal((await store.readStream(stream, 0)).length, 3)
      peer.log.delete(stream)
    }
    await t.rejects(store.readStream(read, 0), damaged, category)
    await t.rejects(store.append(begun, noStream, newEvents(1)), damaged, category)
    for (const stream of [read, begun]) t.equal(peer.log.stream(stream)!.length, 3, category)
  })
})

t.test('a scavenge removes from the log what was hidden, and what was deleted for ever', async (t) => {
  const { peer, store } = await peerAndStore(t, ownStreams)
  const kept = await lawOfScavenge(peer.log, async (stream) => {
    await store.append(stream, noStream, newEvents(3))
  })
  t.same(
    (await store.readAll(0, 1_000)).map(({ stream, revision }) => [stream, revision]),
    kept,
  )
})

/** Damages a stream in each way; returns what is left of them, in the order of the log. */
async function lawOfScavenge(log: Log, write: (stream: string) => Promise<void>) {
  const left: Readonly<Record<string, readonly number[]>> = {
    'soft-deleted': [2],
    tombstoned: [],
    'cut by $tb': [2],
    'cut to nothing by $tb': [2],
    'cut by $maxCount': [2],
    'hidden by $maxAge': [2],
  }
  const rows = [...damages.map((damage) => ({ ...damage, stream: newStream('payout') }))]
  const sound = newStream('payout')
  await write(sound)
  for (const { stream, inflict } of rows) {
    await write(stream)
    inflict(log, stream)
  }
  log.clockAheadMs = 3_600_000
  log.scavenge()
  const ofRows = rows.flatMap(({ name, stream }) => left[name]!.map((revision) => [stream, revision]))
  return [...[0, 1, 2].map((revision) => [sound, revision]), ...ofRows]
}

t.test('an event that was deleted for ever and scavenged does not make the log an older one', async (t) => {
  const { peer, store } = await peerAndStore(t, ownStreams)
  const [sound, gone] = [newStream('payout'), newStream('payout')]
  await store.append(sound, noStream, newEvents(1))
  await store.append(gone, noStream, newEvents(1))
  peer.log.tombstone(gone)
  peer.log.scavenge()
  peer.line.cut()
  await untilItWorks(() => store.ping())
  t.equal((await store.readStream(sound, 0)).length, 1)
})

t.test('rights on a stream hide nothing of it, and are named', async (t) => {
  const { peer, store } = await peerAndStore(t, ownStreams)
  await lawOver(t, ownStreams.categories, async (category) => {
    const [stream, events] = [newStream(category), newEvents(3)]
    await store.append(stream, noStream, events)
    peer.log.setMetadata(stream, { $acl: { $r: '$admins' } })
    t.same(ids(await store.readStream(stream, 0)), ids(events))
    await store.append(stream, 2, newEvents(1))
  })
  const problems = (await store.irregularities()).map(({ problem }) => problem)
  t.same(problems, Array(ownStreams.categories.length).fill('has metadata of its own ($acl)'))
})

const event = { id: '0192f0c0-0000-4000-8000-000000000001', contentType: 'application/json' }
const foreign = { ...event, type: 'Greeting', data: Buffer.from('{}'), metadata: Buffer.from('{}') }

const lost: readonly Damage[] = [
  ...damages.filter(({ name }) => name !== 'cut by $tb'),
  { name: 'cut by $tb', inflict: (log, stream) => log.setMetadata(stream, { $tb: 1 }) },
  { name: 'written to by others', inflict: (log, stream) => void log.append(stream, 1, [foreign]) },
  {
    name: 'written to by others as if they were the service',
    inflict: (log, stream) => void log.append(stream, 1, [{ ...foreign, type: 'HistoryPlaced' }]),
  },
  {
    name: 'soft-deleted, and begun anew',
    inflict: (log, stream) => {
      log.delete(stream)
      log.append(stream, noStream, [
        { ...foreign, type: 'HistoryBegun', data: Buffer.from('{"id":"another"}') },
      ])
    },
  },
]

t.test('nothing starts on a log whose own notes were damaged, and that is said', async (t) => {
  await lawOver(t, lost, async ({ name, inflict }) => {
    const peer = await EventStoreDbPeer.start()
    t.teardown(() => peer.stop())
    const options = { url: peer.url, prefix: 'house_', ...ownStreams }
    const store = await openEventStoreDb(options)
    t.teardown(() => store.close())
    await store.beginHistory('one')
    await store.history.note({ type: 'HistoryCopied', data: { id: 'one' } })
    inflict(peer.log, `house_${history}`)
    peer.log.clockAheadMs = 3_600_000
    const written = peer.log.records.length
    const message = /^history-of-this-log .+: see "What never to do to our streams" in docs\/operations.md$/
    await t.rejects(openEventStoreDb(options), { message }, name)
    t.equal(peer.log.records.length, written, name)
    const named = (await store.irregularities()).some(({ stream }) => stream === history)
    // What was deleted for ever or added is not in the metadata: the next start says so.
    if (!/tombstoned|written/.test(name)) t.ok(named, `${name} is named`)
  })
})

t.test('no prefix makes streams of one installation look like those of another', async (t) => {
  const names = [...ownStreams.categories, history.slice(0, history.indexOf('-'))]
  await lawOver(t, names, async (name) => {
    // A prefix that ends where this begins would turn one into the other.
    t.same(
      names.filter((other) => other !== name && other.endsWith(name)),
      [],
      name,
    )
  })
})
