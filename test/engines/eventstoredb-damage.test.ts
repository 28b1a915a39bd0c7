import t, { type Test } from 'tap'
import { streamName } from '../../packages/kernel/decider.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { ikw } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import type { Log } from '../support/eventstoredb-peer/log.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { MovingMerchant } from '../support/processes/movable-service.ts'
import { testDatabase } from '../support/postgres.ts'
import { clientOf, type Answer, type MerchantClient } from '../support/service.ts'

const damages: Readonly<Record<string, (log: Log, stream: string) => void>> = {
  'soft-deleted': (log, stream) => log.delete(stream),
  tombstoned: (log, stream) => log.tombstone(stream),
  'cut by $tb': (log, stream) => log.setMetadata(stream, { $tb: 2 }),
  'cut by $maxCount': (log, stream) => log.setMetadata(stream, { $maxCount: 1 }),
  'hidden by $maxAge': hide,
  'soft-deleted and scavenged': (log, stream) => {
    log.delete(stream)
    log.scavenge()
  },
  'hidden by $maxAge and scavenged': (log, stream) => {
    hide(log, stream)
    log.scavenge()
  },
}

/** All of it is too old by the server's clock. */
function hide(log: Log, stream: string): void {
  log.clockAheadMs = 3_600_000
  log.setMetadata(stream, { $maxAge: 60 })
}

interface Needed {
  readonly category: string
  /** A request that needs it. */
  readonly ask: (client: MerchantClient) => Promise<Answer>
}

const list = '/api/v1/webhook-endpoints'
const others: Readonly<Record<string, Needed>> = {
  'the merchant': { category: 'merchant', ask: (client) => client.get(list) },
  'a key': { category: 'api_key', ask: (client) => client.get(list) },
  'an endpoint': {
    category: 'webhook_endpoint',
    ask: async (client) => {
      const { body } = await client.get(list)
      const [endpoint] = body['data'] as readonly { readonly id: string }[]
      return client.post(`${list}/${endpoint!.id}`, { enabled_events: ['payout.paid'] })
    },
  },
  'a clock': {
    category: 'sandbox_clock',
    ask: (client) => client.post('/api/test/clock', { advance_seconds: 60 }),
  },
}

const order = {
  amount: 5_000,
  currency: 'XOF',
  destination: { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' },
}

async function open(t: Test) {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  const { url } = await testDatabase(t)
  const merchant = new MovingMerchant(t)
  const places = { POSTGRES_URL: url, EVENTSTORE_URL: peer.url, LOG_LEVEL: 'silent' }
  await merchant.start(places)
  const run = (...words: string[]) => ikw(merchant.settings(places), ...words)
  return { peer, merchant, run, restart: () => restart(merchant, places) }
}

async function restart(merchant: MovingMerchant, places: Readonly<Record<string, string>>) {
  await merchant.stop()
  await merchant.start(places)
}

for (const [damage, inflict] of Object.entries(damages)) {
  t.test(`a book that was ${damage} is never taken for a new one`, async (t) => {
    const { peer, merchant, run, restart } = await open(t)
    await merchant.endPayout(await merchant.requestPayout(), 'paid')
    const pending = await merchant.requestPayout()
    await merchant.settled()
    const { merchant_id } = merchant.service.credentials
    const stream = streamName(book.category, bookId(merchant_id, false, 'XOF'))
    const before = peer.log.stream(stream)!.length
    inflict(peer.log, stream)
    await restart()

    const client = clientOf(merchant.service)
    const refused = await client.post('/api/v1/payouts', order, { headers: { 'idempotency-key': 'late' } })
    t.match(refused, { status: 503, body: { code: 'IKW-SYS-007', retryable: false } })
    t.notMatch(JSON.stringify(refused.body), stream, 'names of streams are nobody’s business')
    t.match(await client.get('/api/v1/merchant/payouts'), { status: 200 }, 'read models answer as before')
    t.match(await client.get('/api/v1/webhook-endpoints'), { status: 200 })

    // What follows from the end of a payout is for the book, and waits there; everything else goes on.
    await merchant.post('/api/test/payouts/callback', { payout_id: pending, status: 'paid' })
    await eventually(
      () => client.get(`/api/v1/payouts/${pending}`),
      ({ body }) => body['status'] === 'paid',
    )
    const { pool } = merchant.service.runtime.postgres
    await eventually(
      () => pool.query<{ error: string }>('select error from parked where consumer like $1', [`%${stream}`]),
      ({ rows }) => rows.length > 0,
    )
    await merchant.settled()
    t.equal(peer.log.stream(stream)!.length, before, 'nothing was added to it')
    const verified = await run('ledger', 'verify')
    t.equal(verified.code, 1)
    t.match(verified.stdout, stream)
  })
}

for (const [name, { category, ask }] of Object.entries(others)) {
  t.test(`whoever needs ${name} that was deleted is refused, and nothing is added to it`, async (t) => {
    const { peer, merchant, run, restart } = await open(t)
    await merchant.listen()
    await merchant.post('/api/test/clock', { advance_seconds: 60 })
    await merchant.settled()
    const names = new Set(peer.log.records.map(({ stream }) => stream))
    const streams = [...names].filter((stream) => stream.startsWith(`${category}-`))
    for (const stream of streams) peer.log.delete(stream)
    peer.log.scavenge()
    const lengths = () => streams.map((stream) => peer.log.stream(stream)!.length)
    const before = lengths()
    await restart()
    const refused = await ask(clientOf(merchant.service))
    t.match(refused, { status: 503, body: { code: 'IKW-SYS-007', retryable: false } })
    t.same(lengths(), before)
    const verified = await run('ledger', 'verify')
    t.equal(verified.code, 1)
    for (const stream of streams) t.match(verified.stdout, stream)
  })
}

t.test('a payout that was cut is refused, and the next one is paid', async (t) => {
  const { peer, merchant } = await open(t)
  const id = await merchant.requestPayout()
  await merchant.settled()
  const stream = peer.log.records.findLast(({ type }) => type === 'PayoutRequested')!.stream
  peer.log.setMetadata(stream, { $maxCount: 1 })
  const answer = await clientOf(merchant.service).get(`/api/v1/payouts/${id}/history`)
  t.match(answer, { status: 503, body: { code: 'IKW-SYS-007' } })
  await merchant.endPayout(await merchant.requestPayout(), 'paid')
})
