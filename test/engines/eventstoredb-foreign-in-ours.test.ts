import t, { type Test } from 'tap'
import { ikw, jsonOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import {
  foreignEvents,
  foreignShapes,
  writeForeign,
  type ForeignShape,
} from '../support/event-store/foreign-events.ts'
import { lawOver } from '../support/law.ts'
import { MovingMerchant } from '../support/processes/movable-service.ts'
import { testDatabase } from '../support/postgres.ts'
import { startTwoApis } from '../support/processes/two-apis.ts'

const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const order = { amount: 5_000, currency: 'XOF', destination }
const intentOrder = { amount: 20_000, currency: 'XOF', transaction_country: 'SN' }
const mobile_money = { country: 'SN', operator: 'orange_money', msisdn: '+221770000000' }
const confirmation = { payment_method: { type: 'mobile_money', mobile_money } }

async function newPeer(t: Test): Promise<EventStoreDbPeer> {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  return peer
}

/** Another program writes into every stream of ours that there is, but what is kept about the log. */
function disturb({ log }: EventStoreDbPeer, shape: ForeignShape): readonly string[] {
  const names = new Set(log.records.map(({ stream }) => stream))
  const ours = [...names].filter((name) => !name.startsWith('$') && !name.startsWith('history-'))
  for (const stream of ours) writeForeign(log, stream, foreignEvents[shape]())
  return ours
}

async function available(merchant: MovingMerchant): Promise<number> {
  const { body } = await merchant.get('/api/v1/balance')
  const amounts = body['available'] as readonly { readonly amount: number }[]
  return amounts.reduce((total, { amount }) => total + amount, 0)
}

/** One payout is paid, one fails, and two payments succeed; in between something else happens. */
async function round(merchant: MovingMerchant, meanwhile: () => unknown): Promise<number> {
  const before = await available(merchant)
  const payout = await merchant.requestPayout()
  const intent = String((await merchant.post('/api/v1/payment-intents', intentOrder))['id'])
  await merchant.settled()
  await meanwhile()
  await merchant.endPayout(payout, 'paid')
  await merchant.post(`/api/v1/payment-intents/${intent}/confirm`, confirmation)
  await meanwhile()
  await merchant.post('/api/test/mobile-money/callback', { payment_intent_id: intent, status: 'succeeded' })
  await eventually(
    () => merchant.get(`/api/v1/payment-intents/${intent}`),
    ({ body }) => body['status'] === 'succeeded',
  )
  await merchant.endPayout(await merchant.requestPayout(), 'failed')
  await meanwhile()
  await merchant.pay()
  await merchant.settled()
  return (await available(merchant)) - before
}

for (const shape of ['in JSON', 'in bytes'] as const) {
  t.test(`every stream of ours goes on behind an event of others ${shape}`, async (t) => {
    const peer = await newPeer(t)
    const { url } = await testDatabase(t)
    const merchant = new MovingMerchant(t)
    const places = { POSTGRES_URL: url, EVENTSTORE_URL: peer.url, LOG_LEVEL: 'silent' }
    const disturbed = () => disturb(peer, shape)
    const disturbedAndRestarted = async () => {
      disturb(peer, shape)
      await merchant.stop()
      await merchant.start(places)
    }
    await merchant.start(places)
    await merchant.listen()
    const gain = await round(merchant, () => undefined)
    t.ok(gain > 0)
    await lawOver(t, [disturbed, disturbedAndRestarted, disturbed], async (meanwhile) =>
      t.equal(await round(merchant, meanwhile), gain, 'the money is the same'),
    )
    const { pool } = merchant.service.runtime.postgres
    t.same((await pool.query('select consumer, stream, error from parked')).rows, [])
    await disturbedIsNamed(t, { peer, shape, run: (...words) => ikw(merchant.settings(places), ...words) })
  })
}

interface Disturbed {
  readonly peer: EventStoreDbPeer
  readonly shape: ForeignShape
  readonly run: (...words: string[]) => ReturnType<typeof ikw>
}

interface Report {
  readonly violations?: readonly object[]
  readonly differences?: readonly object[]
}

/** Each stream is named, and nothing else is found. */
async function disturbedIsNamed(t: Test, { peer, shape, run }: Disturbed): Promise<void> {
  const streams = disturb(peer, shape)
  await lawOver(t, ['verify', 'replay'], async (command) => {
    const ran = await run('ledger', command, '--json')
    t.equal(ran.code, 1, command)
    const { violations, differences } = jsonOf<Report>(ran)
    const found = (violations ?? differences ?? []).map((finding) => JSON.stringify(finding))
    t.equal(found.length, streams.length, command)
    await lawOver(t, streams, (stream) => {
      const isNamed = (text: string) => text.includes(stream) && text.includes('has not written')
      t.ok(found.some(isNamed), `${command} names ${stream}`)
    })
  })
}

t.test('two APIs go on behind what others write into streams that both know', async (t) => {
  const peer = await newPeer(t)
  const { runtime, clients } = await startTwoApis(t, 0, { EVENTSTORE_URL: peer.url })
  await lawOver(t, foreignShapes, async (shape) => {
    await lawOver(t, clients.entries(), async ([index, client]) => {
      const other = clients[1 - index]!
      const made = await client.post(
        '/api/v1/payment-intents',
        intentOrder,
        idempotent(`intent ${shape} ${index}`),
      )
      t.match(made, { status: 201 })
      const path = `/api/v1/payment-intents/${String(made.body['id'])}`
      disturb(peer, shape)
      t.match(await other.post(`${path}/confirm`, confirmation), { status: 200 }, shape)
      disturb(peer, shape)
      t.match(await client.get(path), { status: 200 })
      const payouts = await Promise.all(
        [client, other].map((one, number) =>
          one.post('/api/v1/payouts', order, idempotent(`payout ${shape} ${index} ${number}`)),
        ),
      )
      await lawOver(t, payouts, ({ status }) => t.equal(status, 201, shape))
      disturb(peer, shape)
    })
  })
  await eventually(
    () => clients[0].get('/api/v1/merchant/payouts'),
    ({ body }) => {
      const payouts = body['data'] as readonly { readonly status: string }[]
      return payouts.length === 8 && payouts.every(({ status }) => status !== 'pending')
    },
  )
  t.same((await runtime.postgres.pool.query('select consumer, stream, error from parked')).rows, [])
})

function idempotent(key: string) {
  return { headers: { 'idempotency-key': key.replaceAll(' ', '-') } }
}
