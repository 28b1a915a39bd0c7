import { randomUUID } from 'node:crypto'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { payoutSettings, payoutSettingsId } from '../../packages/domain/payouts/settings.ts'
import { sandboxClock, sandboxClockId } from '../../packages/domain/sandbox-clocks/sandbox-clock.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { startService as start, type RunningService } from '../../services/all-in-one/start.ts'
import { startApi } from '../../services/api/main.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { otherMerchantsKey } from '../support/credentials.ts'
import { createPlan, passDays, subscribe } from '../support/commerce/billing.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { clientOf, type MerchantClient } from '../support/service.ts'

const settings = '/api/v1/merchant/settings/payouts'
const wave = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const dayMs = 86_400_000
const order = { amount: 5_000, currency: 'XOF', transaction_country: 'SN' }

interface Run {
  readonly dueAt: string
  readonly payout: string | null
}

let environment: Readonly<Record<string, string>>
let service: RunningService
let client: MerchantClient

t.before(async () => {
  const { url } = await testDatabase(t)
  const directories = { DATA_DIR: temporaryDirectory(t), POSTGRES_URL: url }
  environment = { PORT: '0', RATE_LIMIT: 'off', LOG_LEVEL: 'error', ...directories }
  await restart()
  t.teardown(() => service.close())
})

async function restart(): Promise<void> {
  await (service as RunningService | undefined)?.close()
  service = await start(readConfiguration(environment))
  client = clientOf(service)
}

async function shownTime(of: MerchantClient = client, key = of.sandboxKey): Promise<number> {
  return Date.parse(String((await of.get('/api/test/clock', { key })).body['now']))
}

async function runsMade(): Promise<readonly Run[]> {
  const { store } = service.runtime.dependencies
  const id = payoutSettingsId({ merchant: service.credentials.merchant_id, livemode: false })
  const events = await store.readStream(streamName(payoutSettings.category, id), 0)
  return events.flatMap(({ type, data }) => (type === 'ScheduledPayoutRun' ? [data as Run] : []))
}

t.test(
  'a schedule over three moved months makes each run once and in order, also over a restart',
  async (t) => {
    await client.post(`${settings}/destinations`, { ...wave, is_default: true })
    await client.call('PATCH', settings, { frequency: 'weekly' })
    const begun = await shownTime()
    const moved: number[] = []
    for (const seconds of [20, 45, 25].map((days) => days * 86_400)) {
      const { status, body } = await client.post('/api/test/clock', { advance_seconds: seconds })
      t.equal(status, 200)
      moved.push(Date.parse(String(body['now'])))
      await restart()
    }
    const until = moved.at(-1)!
    t.ok(until >= begun + 90 * dayMs, 'each move is added to those before')

    const runs = await eventually(
      runsMade,
      (made) => Date.parse(made.at(-1)?.dueAt ?? '') > until - 7 * dayMs,
    )
    const times = runs.map(({ dueAt }) => Date.parse(dueAt))
    t.ok(times.length >= 12)
    t.ok(times[0]! > begun && times[0]! <= begun + 7 * dayMs, 'from the first one on')
    await lawOver(t, times.entries(), ([index, time]) =>
      t.equal(time, times[0]! + index * 7 * dayMs, `run ${index} follows the one before`),
    )
    const { body } = await client.get(`/api/v1/payouts/${runs[0]!.payout}`)
    t.ok(Number(body['created']) * 1_000 > begun + 19 * dayMs, 'resources show the moved time')
    const listed = () => client.get<{ total_count: number }>('/api/v1/merchant/payouts?limit=1')
    const paid = runs.filter(({ payout }) => payout).length
    const list = await eventually(listed, (answer) => answer.body.total_count >= paid)
    t.equal(list.body.total_count, paid, 'no run has paid twice')
  },
)

interface Done {
  readonly type: string
  readonly dueAt: string
}

/** What timers have done, in the order in which they did it. */
async function doneOf(merchant: string): Promise<readonly Done[]> {
  const events = await service.runtime.dependencies.store.readAll(0, 100_000)
  return events.flatMap(({ type, data, metadata }): Done[] => {
    if (!('merchant' in metadata) || metadata.merchant !== merchant) return []
    if (type === 'ScheduledPayoutRun') return [{ type, dueAt: (data as Run).dueAt }]
    if (type !== 'SubscriptionRenewed') return []
    return [{ type, dueAt: (data as { readonly bill: { readonly start: string } }).bill.start }]
  })
}

t.test(
  'weekly payouts and monthly renewals of three moved months run in the order in which they were due',
  async (t) => {
    const [moved, still] = [randomUUID(), randomUUID()]
    const keys = await Promise.all([moved, still].map((id) => otherMerchantsKey({ ...client, service }, id)))
    const asMerchant = (key: string) =>
      clientOf({ ...service, credentials: { ...service.credentials, sandbox_key: key } })
    for (const key of keys) {
      const merchant = asMerchant(key)
      await merchant.post(`${settings}/destinations`, { ...wave, is_default: true })
      await merchant.call('PATCH', settings, { frequency: 'weekly' })
      await subscribe(merchant, { billingPlanId: await createPlan(merchant, { recurringAmount: 0 }) })
    }
    await passDays(asMerchant(keys[0]!), 93)
    await eventually(
      () => doneOf(moved),
      (done) => done.length >= 2,
    )
    await restart()
    const done = await eventually(
      () => doneOf(moved),
      (found) =>
        found.filter(({ type }) => type === 'SubscriptionRenewed').length === 3 && found.length >= 16,
    )
    const times = done.map(({ dueAt }) => dueAt)
    t.strictSame(times, times.toSorted(), 'in order')
    t.equal(new Set(done.map((one) => Object.values(one).join())).size, done.length, 'each once')
    t.strictSame(await doneOf(still), [], 'for another merchant no time has passed')
  },
)

t.test('events are of the moved time, and another merchant’s time stands still', async (t) => {
  const ahead = await shownTime()
  const { body: intent } = await client.post('/api/v1/payment-intents', order)
  t.ok(Number(intent['created']) * 1_000 >= ahead - 1_000)
  const newest = await service.runtime.dependencies.store.readAll(
    (await service.runtime.dependencies.store.head()) - 1,
    1,
  )
  t.ok(Date.parse(newest[0]!.metadata.at) >= ahead)

  const key = await otherMerchantsKey({ ...client, service })
  t.ok((await shownTime(client, key)) < ahead - dayMs)
  const { body: others } = await client.post('/api/v1/payment-intents', order, { key })
  t.ok(Number(others['created']) * 1_000 < ahead - dayMs)
})

t.test('another process decides by the moved time at once', async (t) => {
  const configuration = readConfiguration({ ...environment, PORT: '0' })
  const runtime = await openRuntime(configuration)
  const api = await startApi({ runtime })
  t.teardown(async () => {
    await api.close()
    await runtime.close()
  })
  const other = clientOf({ port: api.port, credentials: service.credentials })
  const key = await otherMerchantsKey({ ...client, service })
  for (let round = 0; round < 10; round++) {
    const [from, to] = round % 2 === 0 ? [client, other] : [other, client]
    const { body } = await from.post('/api/test/clock', { advance_seconds: 86_400 }, { key })
    const { body: intent } = await to.post('/api/v1/payment-intents', order, { key })
    t.ok(Number(intent['created']) * 1_000 >= Date.parse(String(body['now'])) - 1_000, `round ${round}`)
  }
})

t.test(
  'a clock that a process cannot read is refused to its merchant, and keeps no other back',
  async (t) => {
    const configuration = readConfiguration({ ...environment, PORT: '0', LOG_LEVEL: 'silent' })
    const runtime = await openRuntime(configuration)
    const api = await startApi({ runtime })
    t.teardown(async () => {
      await api.close()
      await runtime.close()
    })
    const other = clientOf({ port: api.port, credentials: service.credentials })
    const [merchant, good] = [randomUUID(), randomUUID()]
    const unread = await otherMerchantsKey({ ...client, service }, merchant)
    const key = await otherMerchantsKey({ ...client, service }, good)
    const { store, newId } = service.runtime.dependencies
    const stream = streamName(sandboxClock.category, sandboxClockId(merchant))
    const at = new Date().toISOString()
    const metadata = { merchant, livemode: false, actor: 'test', correlation: 'test', at, version: 1 }
    await store.append(stream, -1, [{ id: newId(), type: 'SandboxClockStopped', data: {}, metadata }])
    const { body } = await client.post('/api/test/clock', { advance_seconds: 86_400 }, { key })
    const paid = () => other.post('/api/v1/payment-intents', order, { key })
    await eventually(
      paid,
      ({ body: intent }) => Number(intent['created']) * 1_000 >= Date.parse(String(body['now'])) - 1_000,
    )
    const refused = () => other.post('/api/v1/payment-intents', order, { key: unread })
    await eventually(refused, ({ status }) => status === 500)
  },
)

t.test('the clock goes forward only, to a time within bounds; live has none', async (t) => {
  const now = await shownTime()
  const to = (ms: number) => ({ to: new Date(ms).toISOString() })
  for (const body of [
    to(now - dayMs),
    to(now + 6 * 366 * dayMs),
    { advance_seconds: 0 },
    { advance_seconds: 10 * 366 * 86_400 },
    { ...to(now + dayMs), advance_seconds: 5 },
    {},
  ])
    t.equal((await client.post('/api/test/clock', body)).status, 400, JSON.stringify(body))
  const { body } = await client.post('/api/test/clock', to(now + dayMs))
  t.ok(Math.abs(Date.parse(String(body['now'])) - (now + dayMs)) < 60_000)
  const key = client.liveKey
  t.equal((await client.get('/api/test/clock', { key })).status, 404)
  t.equal((await client.post('/api/test/clock', { advance_seconds: 5 }, { key })).status, 404)
})
