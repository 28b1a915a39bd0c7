import { randomUUID } from 'node:crypto'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { noStream } from '../../packages/kernel/ports.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { newMetadata } from '../support/event-store/event-store-samples.ts'
import { eventually } from '../support/eventually.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { MovingMerchant } from '../support/processes/movable-service.ts'
import { testDatabase } from '../support/postgres.ts'

const types = ['Greeting', 'constructor', '__proto__', 'PayoutPaid', 'PayoutRequested', 'EntryPosted']
const categories = ['payout', 'ledger', 'payment_intent', 'webhook_endpoint', 'api_key', 'sandbox_clock']
const contents = [{}, { at: {}, money: null, amount: 'x' }]
const boxes = [undefined, { key: 7, box: {} }, 'text', { key: 'AAAAAAAAAAAAAAAAAAAAAA.1', box: 'AAAA' }]

/** Everything of ours but what only we know. */
function imitations(knownKey: string): readonly (readonly [string, object, object])[] {
  const metadata = () => ({ ...newMetadata(), at: new Date().toISOString(), salt: 'AAAAAAAAAAAAAAAAAAAAAA' })
  return types.flatMap((type) =>
    contents.flatMap((data) =>
      [...boxes, { key: knownKey, box: 'AAAA' }].map((sealed) => {
        return [type, data, { ...metadata(), sealed }] as const
      }),
    ),
  )
}

t.test('a program that imitates our events disturbs nobody else', async (t) => {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  const { url } = await testDatabase(t)
  const merchant = new MovingMerchant(t)
  const places = { POSTGRES_URL: url, EVENTSTORE_URL: peer.url, LOG_LEVEL: 'silent' }
  await merchant.start(places)
  const other = await openRuntime(readConfiguration(merchant.settings(places)))
  t.teardown(() => other.close())
  await other.dependencies.movedClocks.follow()
  const { pool } = merchant.service.runtime.postgres
  const keys = await pool.query<{ id: string }>(
    `select subject || '.' || generation as id from subject_keys where subject <> '' limit 1`,
  )
  for (const category of categories) {
    for (const [type, data, metadata] of imitations(keys.rows[0]!.id)) {
      const [id, contentType] = [randomUUID(), 'application/json']
      const [content, about] = [data, metadata].map((value) => Buffer.from(JSON.stringify(value)))
      const event = { id, type, contentType, data: content!, metadata: about! }
      peer.log.append(`${category}-${randomUUID()}`, noStream, [event])
    }
  }
  const paid = async (count: number) => {
    for (let number = 0; number < count; number++)
      await merchant.endPayout(await merchant.requestPayout(), 'paid')
    const line = new RegExp(`^payouts_ended_total\\{[^}]*outcome="paid"\\} ${count}$`, 'm')
    const { metrics } = merchant.service.runtime.health
    await eventually(
      () => metrics.text(),
      (text) => line.test(text),
    )
  }
  await paid(2)
  await merchant.post('/api/test/clock', { advance_seconds: 86_400 })
  const { merchant_id } = merchant.service.credentials
  await eventually(
    async () => other.dependencies.movedClocks.ahead(),
    (ahead) => ahead.some(({ merchant }) => merchant === merchant_id),
  )
  await merchant.settled()
  await merchant.stop()
  await merchant.start(places)
  await paid(1)
  await merchant.settled()
  const { rows } = await merchant.service.runtime.postgres.pool.query<{ streams: number }>(
    'select count(distinct stream)::int as streams from parked',
  )
  t.ok(rows[0]!.streams > 0, 'what cannot be read is set aside')
})
