import t, { type Test } from 'tap'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream } from '../../packages/kernel/ports.ts'
import { testCertificate } from '../support/network/certificate.ts'
import { newCategory, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import { Log } from '../support/eventstoredb-peer/log.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { rights, type Right } from '../support/eventstoredb-peer/rights.ts'
import { peerAndStore } from '../support/event-store/eventstoredb.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'

t.test('when no server answers at the url, then one sentence says so without the password', async (t) => {
  const { peer } = await peerAndStore(t)
  await peer.line.close()
  const { host } = new URL(peer.url)
  const message = await refusalToOpen(t, `esdb://admin:secret@${host}?tls=false`)
  t.match(message, new RegExp(`^EventStoreDB at ${host} cannot be reached: .+$`))
  t.notMatch(message, /secret/)
})

const sentences: Readonly<Record<Right, string>> = {
  'read $all': '$all may not be read by',
  'read streams': 'streams may not be read by',
  'read metadata': 'metadata of streams may not be read by',
  write: 'streams may not be written to by',
}

t.test('a right that the user lacks is named at once, and the look for it leaves no trace', async (t) => {
  const peer = await EventStoreDbPeer.start(new Log(), testCertificate(temporaryDirectory(t)))
  t.teardown(() => peer.stop())
  const written = peer.log.records.length
  const rest = 'the user of EVENTSTORE_URL: see "Rights of the user" in docs/operations.md'
  await lawOver(t, rights, async (lacking) => {
    peer.letInOnly({ name: 'ikw', password: 'secret', lacks: [lacking] })
    t.equal(await refusalToOpen(t, peer.urlOf('ikw', 'secret')), `${sentences[lacking]} ${rest}`)
  })
  peer.letInOnly({ name: 'ikw', password: 'secret', lacks: [] })
  for (const [user, password] of [
    ['ikw', 'wrong'],
    ['other', 'secret'],
  ] as const) {
    const message = await refusalToOpen(t, peer.urlOf(user, password))
    t.equal(message, 'EventStoreDB does not accept the user or the password of EVENTSTORE_URL')
  }
  const store = await openEventStoreDb({ url: peer.urlOf('ikw', 'secret') })
  t.teardown(() => store.close())
  t.equal(peer.log.records.length, written)
  const stream = newStream(newCategory())
  await store.append(stream, noStream, newEvents(1))
  t.equal((await store.readStream(stream, 0)).length, 1)
})

t.test('when a url is malformed, then one sentence says so without the password', async (t) => {
  const examples = 'esdb://host:2113?tls=false or esdb+discover://host:2113'
  const withPassword = ['esdb://admin:secret@host:port', 'esdb://admin:secret@host?tls=maybe']
  for (const url of ['', 'postgres://localhost', 'esdb://', ...withPassword]) {
    const message = await refusalToOpen(t, url)
    t.ok(message.startsWith(`the url of EventStoreDB must look like ${examples}: `), message)
    t.notMatch(message, /secret|\n/)
  }
})

async function refusalToOpen(t: Test, url: string): Promise<string> {
  const failure = await openEventStoreDb({ url }).catch((error: unknown) => error)
  t.ok(failure instanceof Error)
  return failure instanceof Error ? failure.message : ''
}
