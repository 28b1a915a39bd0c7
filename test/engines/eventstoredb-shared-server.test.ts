import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { noStream } from '../../packages/kernel/ports.ts'
import { ikw } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import type { ProposedRecord } from '../support/eventstoredb-peer/append-rules.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { MovingMerchant } from '../support/processes/movable-service.ts'
import { testDatabase } from '../support/postgres.ts'

const peer = await EventStoreDbPeer.start()
t.teardown(() => peer.stop())

const greeting: ProposedRecord = {
  id: randomUUID(),
  type: 'Greeting',
  contentType: 'application/json',
  data: Buffer.from('{"text":"hello"}'),
  metadata: Buffer.from('{"$correlationId":"none of ours"}'),
}
const noise: ProposedRecord = {
  ...greeting,
  id: randomUUID(),
  contentType: 'application/octet-stream',
  data: Buffer.from([0, 255, 1]),
  metadata: Buffer.alloc(0),
}

/** As another program would: at the end of the stream. */
function write(stream: string, event: ProposedRecord): void {
  const last = (peer.log.stream(stream)?.length ?? 0) - 1
  peer.log.append(stream, last, [{ ...event, id: randomUUID() }])
}

/** A merchant with a service and a database of its own on the one server. */
async function openLedger(t: Test, prefix: string) {
  const { url } = await testDatabase(t)
  const merchant = new MovingMerchant(t)
  const places = { POSTGRES_URL: url, EVENTSTORE_URL: peer.url, EVENTSTORE_PREFIX: prefix }
  await merchant.start(places)
  return { merchant, places, run: (...words: string[]) => ikw(merchant.settings(places), ...words) }
}

t.test('what other programs write to the same server is nobody’s business', async (t) => {
  write('greetings-1', greeting)
  write('greetings-2', noise)
  const { merchant, run } = await openLedger(t, '')
  const payout = await merchant.requestPayout()
  write('greetings-1', greeting)
  write('greetings-2', noise)
  await merchant.endPayout(payout, 'paid')
  await merchant.settled()
  const { store } = merchant.service.runtime.dependencies
  t.same(store.counts().eventsPassedOver, 0, 'they were not even sent')
  for (const command of ['verify', 'replay']) t.match(await run('ledger', command), { code: 0 }, command)
})

t.test('two services see nothing of each other, even if one’s prefix begins with the other’s', async (t) => {
  const [first, second] = [await openLedger(t, 'a'), await openLedger(t, 'ab')]
  for (const { merchant } of [first, second]) {
    await merchant.endPayout(await merchant.requestPayout(), 'paid')
    await merchant.settled()
  }
  const eventsOf = async ({ merchant }: typeof first) => {
    const events = await merchant.service.runtime.dependencies.store.readAll(0, 10_000)
    return new Set(events.map(({ id }) => id))
  }
  const ids = [await eventsOf(first), await eventsOf(second)]
  t.ok(ids.every(({ size }) => size > 0))
  t.equal(common(ids[0]!, ids[1]!), 0)
  const histories = peer.log.records.filter(({ type }) => type === 'HistoryBegun').map(({ stream }) => stream)
  t.ok(histories.includes('ahistory-of-this-log') && histories.includes('abhistory-of-this-log'))
  for (const { run } of [first, second]) t.match(await run('ledger', 'verify'), { code: 0 })
})

function common(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  return [...one].filter((id) => other.has(id)).length
}

t.test('an event of others in one of our categories is passed over, counted and named', async (t) => {
  const { merchant, run } = await openLedger(t, 'third_')
  const stream = `third_payout-${randomUUID()}`
  write(stream, greeting)
  write(stream, noise)
  const other = `third_ledger-${randomUUID()}`
  peer.log.append(other, noStream, [{ ...greeting, id: randomUUID() }])
  peer.log.tombstone(other)
  await merchant.endPayout(await merchant.requestPayout(), 'paid')
  await merchant.settled()
  await eventually(
    async () => merchant.service.runtime.dependencies.store.counts().eventsPassedOver,
    (count) => count >= 4,
  )
  const metrics = await fetch(`http://127.0.0.1:${merchant.service.healthPort}/metrics`)
  t.match(await metrics.text(), /^event_store_events_passed_over_total 4$/m)
  for (const command of ['verify', 'replay']) {
    const { code, stdout } = await run('ledger', command)
    t.equal(code, 1, command)
    for (const name of [stream, other]) t.match(stdout, name.replace('third_', ''))
  }
})
