import { randomUUID } from 'node:crypto'
import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import type { ExistingSubscription } from '../../packages/domain/subscriptions/state.ts'
import { subscription } from '../../packages/domain/subscriptions/subscription.ts'
import { usageRecord } from '../../packages/domain/usage/usage-record.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { createCustomer, createPlan, passDays, subscribe } from '../support/commerce/billing.ts'
import { otherMerchantsKey } from '../support/credentials.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

const path = '/api/v1/billing/usage/records'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** Only its use costs something. */
const metered = async () => {
  const metadata = '{"meters":{"sms":25,"call":100}}'
  const terms = { recurringAmount: 0, usageBasedEnabled: true, metadata }
  return subscribe(service, { billingPlanId: await createPlan(service, terms) })
}
const use = (subscriptionId: string, body: object = {}) =>
  service.post(path, { subscriptionId, meterKey: 'sms', ...body })

interface Invoice {
  readonly amount_due: number
  readonly lines: readonly {
    readonly description: string
    readonly quantity: number
    readonly amount: number
  }[]
}

/** Newest first, once there are so many. */
async function invoicesOf(id: string, count: number): Promise<readonly Invoice[]> {
  const listed = () =>
    service.get<{ data: Invoice[] }>(`/api/v1/billing/invoices?subscriptionId=${id}&limit=100`)
  return (await eventually(listed, ({ body }) => body.data.length === count)).body.data
}

t.test('what has one external id is one record, however often and together it is sent', async (t) => {
  const id = await metered()
  const sent = await Promise.all(
    Array.from({ length: 10 }, () => use(id, { externalId: 'm-1', quantity: 3 })),
  )
  t.strictSame([...new Set(sent.map(({ status }) => status))], [201])
  t.equal(new Set(sent.map(({ body }) => body['id'])).size, 1)
  t.match(await use(id, { externalId: 'm-1', quantity: 99 }), { status: 201, body: { quantity: 3 } })
  const { body } = await eventually(
    () => service.get<{ data: object[] }>(`${path}?subscriptionId=${id}`),
    (page) => page.body.data.length > 0,
  )
  t.match(body.data, [{ subscription: id, meter_key: 'sms', external_id: 'm-1' }])
  t.equal(body.data.length, 1)
})

t.test('what was recorded is shown again also where it would be refused by now', async (t) => {
  const metadata = '{"meters":{"sms":1000000}}'
  const terms = { recurringAmount: 0, usageBasedEnabled: true, metadata }
  const id = await subscribe(service, { billingPlanId: await createPlan(service, terms) })
  const most = { externalId: 'm-2', quantity: 1_000_000_000 }
  const { body: recorded } = await use(id, most)
  t.match(recorded, { object: 'usage_record' })
  t.strictSame((await use(id, most)).body, recorded, 'no more can be asked for')
  t.match(await use(id, { ...most, externalId: 'm-3' }), { body: { code: 'IKW-BILLING-003' } })
  await service.post(`/api/v1/billing/subscriptions/${id}/cancel`, {})
  t.strictSame((await use(id, most)).body, recorded, 'the subscription was canceled')
  t.match(await use(id, { externalId: 'm-3' }), { body: { code: 'IKW-BILLING-002' } })
  const key = await otherMerchantsKey(service)
  const ofAnother = { subscriptionId: id, meterKey: 'sms', ...most }
  t.equal((await service.post(path, ofAnother, { key })).status, 404, "nobody sees another merchant's")
  const [invoice] = await invoicesOf(id, 2)
  t.match(invoice, { lines: [{ description: 'sms', quantity: 1_000_000_000 }] }, 'it is billed once')
})

t.test('only what bills by use can be used, while it runs, and not tomorrow', async (t) => {
  t.match(await use(await subscribe(service)), { status: 400, body: { code: 'IKW-BILLING-005' } })
  const id = await metered()
  t.match(await use(id, { meterKey: null }), { status: 400, body: { param: '/meterKey' } })
  t.match(await use(id, { occurredAt: '2099-01-01T00:00:00.000Z' }), {
    status: 400,
    body: { param: '/occurredAt' },
  })
  t.match(await use(id, { meterKey: 'constructor' }), { status: 201 }, 'a meter that costs nothing')
  await service.post(`/api/v1/billing/subscriptions/${id}/cancel`, {})
  t.match(await use(id), { status: 409, body: { code: 'IKW-BILLING-002' } })
})

t.test('what was used is billed when the subscription ends now', async (t) => {
  const id = await metered()
  await use(id, { quantity: 4 })
  await use(id, { meterKey: 'call' })
  await use(id, { meterKey: 'other', quantity: 7 })
  await service.post(`/api/v1/merchant/subscriptions/${id}/cancel`, {})
  const [last] = await invoicesOf(id, 2)
  t.equal(last!.amount_due, 4 * 25 + 100)
  t.match(last!.lines, [
    { description: 'sms', quantity: 4, amount: 100 },
    { description: 'call', quantity: 1, amount: 100 },
  ])
})

t.test(
  'use that is told while the subscription is canceled is on one of its invoices, or refused',
  async (t) => {
    const id = await metered()
    const [uses] = await Promise.all([
      Promise.all(Array.from({ length: 30 }, () => use(id))),
      service.post(`/api/v1/billing/subscriptions/${id}/cancel`, {}),
    ])
    const taken = uses.filter(({ status }) => status === 201).length
    await lawOver(t, uses, ({ status }) => t.ok([201, 409].includes(status), String(status)))
    const invoices = () =>
      service.get<{ data: Invoice[] }>(`/api/v1/billing/invoices?subscriptionId=${id}&limit=100`)
    const asked = (page: { body: { data: readonly Invoice[] } }) =>
      page.body.data.reduce((sum, { amount_due }) => sum + amount_due, 0)
    t.equal(asked(await eventually(invoices, (page) => asked(page) >= taken * 25)), taken * 25)
  },
)

t.test('use that is counted after its meter was closed for good is billed by itself', async (t) => {
  const id = await metered()
  const { dependencies } = service.service.runtime
  const { merchant_id: merchant } = service.service.credentials
  const envelope = { merchant, livemode: false, actor: 'test', correlation: 'test' }
  const subscriptionId = identity(id, 'sub')!
  await service.post(`/api/v1/billing/subscriptions/${id}/cancel`, {})
  const { state } = await dependencies.executor.sendAll(subscription, subscriptionId, [])
  // As a request does that has seen it before it was canceled.
  const { customer, period } = state as ExistingSubscription
  const used = { subscription: subscriptionId, customer, meterKey: 'sms', quantity: 3, externalId: null }
  const data = { ...used, occurredAt: period.start, period: period.number }
  await dependencies.executor.send(usageRecord, randomUUID(), { type: 'RecordUsage', data }, envelope)
  const [late] = await invoicesOf(id, 2)
  t.match(late, { amount_due: 75, lines: [{ description: 'sms', quantity: 3, amount: 75 }] })
})

// The clock goes on from here.

t.test('use is billed once, with the period that follows it', async (t) => {
  const id = await metered()
  await Promise.all(Array.from({ length: 12 }, (_, index) => use(id, { externalId: `n-${index}` })))
  await passDays(service, 32)
  const [second] = await invoicesOf(id, 2)
  t.equal(second!.amount_due, 12 * 25)
  const past = new Date(Date.now() + 86_400_000).toISOString()
  t.match(await use(id, { occurredAt: past, quantity: 2 }), { status: 201 }, 'told late')
  await passDays(service, 31)
  const [third] = await invoicesOf(id, 3)
  t.equal(third!.amount_due, 2 * 25)
})

t.test('use during a trial is free, also where it is told after the trial', async (t) => {
  const customer = await createCustomer(service)
  const metadata = '{"meters":{"sms":1000000,"call":1}}'
  const terms = { recurringAmount: 0, usageBasedEnabled: true, metadata }
  const items = [{ price: await createPlan(service, terms) }]
  const order = { customer, items, trial_period_days: 5 }
  const { body: trial } = await service.post('/api/v1/merchant/subscriptions', order)
  const id = String(trial['id'])
  const much = 900_000_000
  for (const _ of [1, 2]) t.match(await use(id, { quantity: much }), { status: 201 })
  const during = new Date((Number(trial['created']) + 86_400) * 1_000).toISOString()
  await passDays(service, 6)
  await invoicesOf(id, 1)
  t.match(await use(id, { quantity: much, occurredAt: during }), { status: 201 })
  t.match(await use(id, { quantity: 2 }), { status: 201 })
  await service.post(`/api/v1/billing/subscriptions/${id}/cancel`, { atPeriodEnd: false })
  const [last] = await invoicesOf(id, 2)
  t.match(last, { amount_due: 2_000_000, lines: [{ description: 'sms', quantity: 2, amount: 2_000_000 }] })
})

t.test('what one invoice cannot ask for is asked for by the next one', async (t) => {
  const price = 1_000_000
  const prices = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`meter-${index}`, price]))
  const metadata = JSON.stringify({ meters: prices })
  const terms = { recurringAmount: 0, usageBasedEnabled: true, metadata }
  const id = await subscribe(service, { billingPlanId: await createPlan(service, terms) })
  const quantity = 900_000_000
  const uses = await Promise.all(Object.keys(prices).map((meterKey) => use(id, { meterKey, quantity })))
  t.strictSame([...new Set(uses.map(({ status }) => status))], [201])
  const asked: number[] = []
  for (let count = 2; count <= 3; count++) {
    await passDays(service, 32)
    const [newest] = await invoicesOf(id, count)
    asked.push(newest!.amount_due)
  }
  t.strictSame(asked, [1e15, 1e15])
  const dear = await createPlan(service, {
    ...terms,
    metadata: '{"meters":{"a":900000000000000,"b":900000000000000}}',
  })
  const customerId = String((await service.get(`/api/v1/billing/subscriptions/${id}`)).body['customer'])
  const refused = await service.post('/api/v1/billing/subscriptions', { billingPlanId: dear, customerId })
  t.match(refused, { status: 400, body: { param: '/billingPlanId' } })
})

t.test('what is used after the last period is refused, as nothing would bill it', async (t) => {
  const id = await metered()
  await service.post(`/api/v1/billing/subscriptions/${id}/cancel`, { atPeriodEnd: true })
  t.match(await use(id), { status: 201 }, 'in the last period')
  const unpaid = await subscribe(service, {
    billingPlanId: await createPlan(service, { usageBasedEnabled: true }),
  })
  t.match(await use(unpaid), { status: 201 })
  await passDays(service, 100)
  const now = () => service.get(`/api/v1/billing/subscriptions/${unpaid}`)
  await eventually(now, ({ body }) => body['status'] === 'unpaid')
  await passDays(service, 32)
  t.match(await use(unpaid), { status: 409, body: { code: 'IKW-BILLING-002' } })
})

testConservation(() => service)
