import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream, type EventStore } from '../../packages/kernel/ports.ts'
import { newCategory, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import { notReady } from '../support/eventstoredb-peer/failures.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { lawOver } from '../support/law.ts'

interface Absence {
  readonly begin: (peer: EventStoreDbPeer) => unknown
  readonly end: (peer: EventStoreDbPeer) => unknown
  /** By its nodes, or by the name of a cluster. */
  readonly scheme?: string
}

const away = {
  begin: ({ line }: EventStoreDbPeer) => line.close(),
  end: ({ line }: EventStoreDbPeer) => line.open(),
}

const absences: Readonly<Record<string, Absence>> = {
  'the server is not ready': {
    begin: (peer) => peer.failCalls(notReady),
    end: (peer) => peer.recover(),
  },
  'another node should lead, and does not yet': {
    begin: (peer) => peer.isLedBy(peer.line.port),
    end: (peer) => peer.recover(),
  },
  'connections are refused': away,
  'no node of the cluster can be discovered': { ...away, scheme: 'esdb+discover' },
}

interface Written {
  readonly stream: string
  readonly position: number
}

const reads: Readonly<Record<string, (store: EventStore, written: Written) => Promise<unknown>>> = {
  readStream: (store, { stream }) => store.readStream(stream, 0),
  readAll: (store) => store.readAll(0, 10),
  readAt: (store, { position }) => store.readAt(position),
  head: (store) => store.head(),
  irregularities: (store) => store.irregularities(),
}

const recoversAfterMs = 300

for (const [absence, { begin, end, scheme = 'esdb' }] of Object.entries(absences)) {
  t.test(`when ${absence} for less than two seconds, then every read waits for it`, async (t) => {
    const peer = await EventStoreDbPeer.start()
    t.teardown(() => peer.stop())
    const url = `${peer.url.replace('esdb:', `${scheme}:`)}&maxDiscoverAttempts=2&discoveryInterval=10`
    const store = await openEventStoreDb({ url })
    t.teardown(() => store.close())
    const stream = newStream(newCategory())
    const { position } = await store.append(stream, noStream, newEvents(2))
    await lawOver(t, Object.entries(reads), async ([name, read]) => {
      const before = await read(store, { stream, position })
      await begin(peer)
      let isBack = false
      const back = pause(recoversAfterMs).then(() => {
        isBack = true
        return end(peer)
      })
      const found = await read(store, { stream, position }).catch((error: Error) => error)
      t.ok(isBack, `${name} has met it`)
      await back
      t.same(found, before, name)
    })
  })
}
