import t from 'tap'
import { createPlan } from '../support/commerce/billing.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

const path = '/api/v1/merchant/products'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

async function create(body: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await service.post(path, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return String(answer.body['id'])
}

t.test('a product shows what it was created with, and a change shows at once', async (t) => {
  const lamp = { name: 'Solar lamp', unit_amount: 5_000, currency: 'xof', metadata: { shelf: '3' } }
  const id = await create(lamp)
  t.match(id, /^prod_[0-9a-f]{32}$/)
  t.match((await service.get(`${path}/${id}`)).body, {
    ...lamp,
    currency: 'XOF',
    object: 'product',
    active: true,
    description: null,
  })
  const revision = { description: 'Lasts a week', metadata: { row: '7' } }
  const revised = await service.call('PATCH', `${path}/${id}`, revision)
  t.match(revised, { status: 200, body: { ...revision, metadata: { shelf: '3', row: '7' } } })
  t.match((await service.call('PATCH', `${path}/${id}`, { description: null })).body, { description: null })
})

t.test('a product is sold by a plan of its merchant, and priced in a currency', async (t) => {
  const id = await create({ name: 'Course', default_price: await createPlan(service) })
  const nobodys = `plan_${'0'.repeat(32)}`
  const refused = { status: 404, body: { code: 'IKW-RES-001', param: '/default_price' } }
  for (const default_price of ['nonsense', nobodys]) {
    t.match(await service.post(path, { name: 'Course', default_price }), refused)
    t.match(await service.call('PATCH', `${path}/${id}`, { default_price }), refused)
  }
  t.match(await service.call('PATCH', `${path}/${id}`, { default_price: null }), { status: 200 })
  const bare = await service.post(path, { name: 'Course', unit_amount: 500 })
  t.match(bare, { status: 400, body: { param: '/currency', errors: [{ pointer: '/currency' }] } })
})

t.test('a list shows active or inactive products, newest first, and counts them', async (t) => {
  const [first, second] = [await create({ name: 'One' }), await create({ name: 'Two' })]
  const off = await service.call('PATCH', `${path}/${first}/active`, { active: false })
  t.match(off, { status: 200, body: { active: false } })
  const { body } = await service.get<{ data: readonly { id: string }[] }>(`${path}?status=inactive`)
  t.match(body, { data: [{ id: first, active: false }], total_count: 1 })
  const { body: active } = await service.get<{ data: readonly { id: string }[] }>(`${path}?status=active`)
  t.equal(active.data[0]!.id, second)
})

t.test('a deleted product is gone, and says so when it is asked for', async (t) => {
  const id = await create({ name: 'Short-lived' })
  t.match(await service.call('DELETE', `${path}/${id}`), { status: 200, body: { id, deleted: true } })
  const gone = await service.get(`${path}/${id}`)
  t.match(gone, { status: 404, body: { code: 'IKW-RES-001', detail: `No product ${id}` } })
  t.match((await service.call('PATCH', `${path}/${id}/active`, { active: true })).status, 404)
  const { body } = await service.get<{ data: readonly { id: string }[] }>(path)
  t.notOk(body.data.some((one) => one.id === id))
})

t.test('a product has a history, and webhooks tell of it with the currency in lower case', async (t) => {
  const id = await create({ name: 'Radio', unit_amount: 9_000, currency: 'XOF' })
  await service.call('PATCH', `${path}/${id}/active`, { active: false })
  t.match((await service.get(`${path}/${id}/history`)).body, {
    data: [
      { type: 'ProductCreated', changed: { name: { from: null, to: 'Radio' } } },
      { type: 'ProductDeactivated', changed: { active: { from: true, to: false } } },
    ],
  })
  const feed = await eventually(
    () =>
      service.get<{ data: readonly { type: string; data: { id: string } }[] }>('/api/v1/events?limit=100'),
    ({ body }) => body.data.filter(({ data }) => data.id === id).length === 2,
  )
  const told = feed.body.data.filter(({ data }) => data.id === id)
  t.match(told, [
    { type: 'product.created', data: { currency: 'xof' } },
    { type: 'product.updated', data: { active: false } },
  ])
})
