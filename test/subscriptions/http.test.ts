import t from 'tap'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { createCustomer, createPlan, passDays, subscribe } from '../support/commerce/billing.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

const path = '/api/v1/billing/subscriptions'
const items = '/api/v1/merchant/subscriptions'
const daySeconds = 86_400

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const shown = async (id: string) => (await service.get(`${path}/${id}`)).body
const becomes = (id: string, status: string) =>
  eventually(
    () => shown(id),
    (now) => now['status'] === status,
  )
const typesOf = async (id: string) => {
  const { body } = await service.get<{ data: { type: string }[] }>(`${path}/${id}/history`)
  return body.data.map(({ type }) => type)
}

t.test('a subscription begins at once, and shows on both surfaces what it is about', async (t) => {
  const [plan, customer] = [await createPlan(service), await createCustomer(service)]
  const asked = { billingPlanId: plan, customerId: customer }
  const { status, body } = await service.post(path, asked)
  t.equal(status, 201)
  t.match(body, { object: 'subscription', status: 'active', customer, currency: 'XOF', canceled_at: null })
  t.match(body['items'], [{ id: /^si_/, price: plan, quantity: 1 }])
  const id = String(body['id'])
  t.strictSame((await service.get(`${items}/${id}`)).body, body)
  for (const query of [`customerId=${customer}`, `billingPlanId=${plan}&status=active`]) {
    const listed = () => service.get<{ data: { id: string }[] }>(`${path}?${query}`)
    t.ok(await eventually(listed, (page) => page.body.data[0]?.id === id), query)
  }
})

t.test('what does not fit together is refused by the field that is wrong', async (t) => {
  const [plan, customer] = [await createPlan(service), await createCustomer(service)]
  const start = (body: object) => service.post(path, { billingPlanId: plan, customerId: customer, ...body })
  const [cfa, yearly] = [
    await createPlan(service, { currency: 'XAF' }),
    await createPlan(service, { interval: 'year' }),
  ]
  const refusals = [
    [await start({ customerId: null }), 400, '/customerId'],
    [await start({ billingPlanId: cfa }), 400, '/customerId'],
    [await start({ currentPeriodStart: '2999-01-31T00:00:00.000Z' }), 400, '/currentPeriodStart'],
    [await start({ currentPeriodEnd: '2020-01-31T00:00:00.000Z' }), 400, '/currentPeriodEnd'],
    [await start({ currentPeriodEnd: '9999-12-31T00:00:00.000Z' }), 400, '/currentPeriodEnd'],
    [await start({ currentPeriodStart: '2019-01-01T00:00:00.000Z' }), 400, '/currentPeriodStart'],
    [
      await service.post(items, { customer, items: [{ price: plan }, { price: yearly }] }),
      400,
      '/items/1/price',
    ],
  ] as const
  for (const [{ status, body }, expected, param] of refusals)
    t.match({ status, param: body['param'] }, { status: expected, param }, JSON.stringify(body))
  const nobody = `cus_${'0'.repeat(32)}`
  t.match(await start({ customerId: nobody }), {
    status: 404,
    body: { code: 'IKW-RES-001', detail: `No customer ${nobody}` },
  })
})

t.test('it is canceled at the end of its period, or at once', async (t) => {
  const id = await subscribe(service)
  const cancel = (body: object) => service.post(`${path}/${id}/cancel`, body)
  t.match(await cancel({ atPeriodEnd: true }), {
    status: 200,
    body: { status: 'active', cancel_at_period_end: true },
  })
  const now = await service.post(`${items}/${id}/cancel`, { at_period_end: false, reason: 'Moved away' })
  t.match(now, { status: 200, body: { status: 'canceled', canceled_at: /Z$/ } })
  t.match(await cancel({}), { status: 200, body: { status: 'canceled' } }, 'twice is once')
  t.match(await cancel({ atPeriodEnd: true }), { status: 409, body: { code: 'IKW-BILLING-002' } })
  t.strictSame(await typesOf(id), [
    'SubscriptionStarted',
    'SubscriptionCancelScheduled',
    'SubscriptionCanceled',
  ])
})

// The clock goes on from here: what stands above is about today.

t.test('a trial ends, periods follow each other, and a missed one is made up', async (t) => {
  const customer = await createCustomer(service)
  const free = await createPlan(service, { recurringAmount: 0 })
  const trial = await service.post(items, {
    customer,
    items: [{ price: free, quantity: 3 }],
    trial_period_days: 14,
    metadata: { shop: '7' },
  })
  const id = String(trial.body['id'])
  t.match(trial.body, { status: 'trialing', metadata: { shop: '7' } })
  const { created, trial_end } = trial.body as { created: number; trial_end: number }
  t.equal(trial_end, Number(created) + 14 * daySeconds)
  t.equal(trial.body['current_period_end'], trial_end)
  const once = await subscribe(service, { billingPlanId: free, cancelAtPeriodEnd: true })
  await passDays(service, 14)
  t.match(await becomes(id, 'active'), { current_period_start: trial_end })
  await passDays(service, 70)
  t.match(await becomes(once, 'canceled'), { cancel_at_period_end: true })
  await eventually(
    () => typesOf(id),
    (types) => types.length === 4,
  )
  t.strictSame(await typesOf(id), ['SubscriptionStarted', ...Array<string>(3).fill('SubscriptionRenewed')])
  t.strictSame(await typesOf(once), ['SubscriptionStarted', 'SubscriptionCanceled'])
})

t.test('a subscription that begins later is awaited until then', async (t) => {
  const { body: clock } = await service.get('/api/test/clock')
  const now = Date.parse(String(clock['now']))
  const at = (days: number) => new Date(now + days * daySeconds * 1_000).toISOString()
  const id = await subscribe(service, { currentPeriodStart: at(10), currentPeriodEnd: at(15) })
  const [start, end] = [10, 15].map((days) => Math.floor(Date.parse(at(days)) / 1_000))
  t.match(await shown(id), {
    status: 'trialing',
    trial_end: null,
    current_period_start: start,
    current_period_end: end,
  })
  const about = await service.post('/api/v1/billing/invoices', { subscriptionId: id })
  t.match(about.body, { period_start: start, period_end: end })
  await passDays(service, 11)
  t.match(await becomes(id, 'active'), { current_period_start: start, current_period_end: end })
})

t.test('what is to run once runs once, also where it begins later', async (t) => {
  const { body: clock } = await service.get('/api/test/clock')
  const start = new Date(Date.parse(String(clock['now'])) + 10 * daySeconds * 1_000).toISOString()
  const id = await subscribe(service, { currentPeriodStart: start, cancelAtPeriodEnd: true })
  const later = await subscribe(service, { currentPeriodStart: start })
  t.equal((await service.post(`${path}/${later}/cancel`, { atPeriodEnd: true })).status, 200)
  const { current_period_end: end } = await shown(id)
  await passDays(service, 11)
  for (const one of [id, later]) t.match(await becomes(one, 'active'), { current_period_end: end })
  await passDays(service, 31)
  for (const one of [id, later]) {
    await becomes(one, 'canceled')
    const types = (await typesOf(one)).filter((type) => type !== 'SubscriptionCancelScheduled')
    t.strictSame(types, ['SubscriptionStarted', 'SubscriptionRenewed', 'SubscriptionCanceled'])
  }
})

t.test('what was to run once is canceled where its period has passed while it was unpaid', async (t) => {
  const { body: clock } = await service.get('/api/test/clock')
  const start = new Date(Date.parse(String(clock['now'])) + 80 * daySeconds * 1_000).toISOString()
  const id = await subscribe(service, { currentPeriodStart: start, cancelAtPeriodEnd: true })
  await service.post('/api/v1/billing/invoices', { subscriptionId: id })
  await passDays(service, 81)
  await becomes(id, 'unpaid')
  await passDays(service, 32)
  await becomes(id, 'canceled')
  t.strictSame(await typesOf(id), [
    'SubscriptionStarted',
    'SubscriptionBecamePastDue',
    'SubscriptionBecameUnpaid',
    'SubscriptionCanceled',
  ])
})

testConservation(() => service)
