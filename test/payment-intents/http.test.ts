import t from 'tap'
import { lawOver } from '../support/law.ts'
import { intentsPath, order, startPayments, type Body, type Payments } from '../support/payments/payments.ts'

let payments: Payments

t.before(async () => {
  payments = await startPayments(t)
})

t.test('a payment intent is created as the specification shows it', async (t) => {
  const metadata = { order: '7', count: 7, Description: 'x', 'internal.a': 'x', nothing: null }
  const answer = await payments.post(intentsPath, {
    ...order,
    description: 'Two shirts',
    metadata,
    payer_country: 'ci',
  })
  t.equal(answer.status, 201)
  const { id, created, ...rest } = answer.body
  t.match(id, /^pi_[0-9a-f]{32}$/)
  t.type(created, 'number')
  t.equal(answer.headers.get('location'), `${intentsPath}/${String(id)}`)
  t.strictSame(rest, {
    object: 'payment_intent',
    livemode: false,
    amount: 5_000,
    currency: 'XOF',
    status: 'requires_payment_method',
    description: 'Two shirts',
    metadata: { order: '7' },
    next_action: null,
    customer: null,
    transaction_country: 'SN',
    payer_country: 'CI',
    rail_country: null,
    payment_method_type: null,
    operation_id: null,
    failure_code: null,
    failure_message: null,
    canceled_at: null,
  })
  t.strictSame(await payments.shown(answer.body), answer.body)
})

t.test('what cannot be paid is refused', async (t) => {
  t.match(await payments.post(intentsPath, { ...order, transaction_country: 'FR' }), {
    status: 400,
    body: { code: 'IKW-TRANSFER-001', param: '/transaction_country' },
  })
  t.match(await payments.post(intentsPath, { ...order, currency: 'GNF' }), {
    status: 400,
    body: { code: 'IKW-TRANSFER-001', param: '/currency' },
  })
  const tiny = { amount: 999, currency: 'GNF', transaction_country: 'GN' }
  t.match(await payments.post(intentsPath, tiny), {
    status: 400,
    body: {
      code: 'IKW-TRANSFER-001',
      param: '/amount',
      detail: /orange_money in GN moves 1,000 to 20,000,000 GNF; the amount is 999/,
    },
  })
  t.match(await payments.post(intentsPath, { ...order, customer: `cus_${'0'.repeat(32)}` }), {
    status: 400,
    body: { code: 'IKW-TRANSFER-009', param: '/customer' },
  })
  t.match(await payments.post(intentsPath, { ...order, metadata: { a: 'x'.repeat(513) } }), {
    status: 400,
    body: { code: 'IKW-REQ-001' },
  })
})

t.test('the same idempotency key creates one intent', async (t) => {
  const headers = { 'idempotency-key': 'order-7' }
  const first = await payments.post(intentsPath, order, { headers })
  const second = await payments.post(intentsPath, order, { headers })
  t.strictSame(second.body, first.body)
  t.equal(second.headers.get('idempotent-replayed'), 'true')
  t.match(await payments.post(intentsPath, { ...order, amount: 1 }, { headers }), {
    status: 409,
    body: { code: 'IKW-REQ-003' },
  })
})

t.test('the same idempotency key at the same moment creates one intent', async (t) => {
  const headers = { 'idempotency-key': 'order-8' }
  const ask = () => payments.post(intentsPath, order, { headers })
  const answers = await Promise.all(Array.from({ length: 5 }, ask))
  await lawOver(t, answers, ({ status, body }) => t.strictSame([status, body], [201, answers[0]!.body]))
  const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true')
  t.equal(replayed.length, 4)
})

t.test('who repeats a key with a contact in another body becomes no customer', async (t) => {
  const headers = { 'idempotency-key': 'order-9' }
  await payments.post(intentsPath, order, { headers })
  const other = { ...order, customer_email: 'nobody@example.com' }
  t.equal((await payments.post(intentsPath, other, { headers })).status, 409)
  const found = await payments.get('/api/v1/merchant/customers?search=nobody@example.com')
  t.match(found.body, { total_count: 0 })
})

t.test('a customer is found by e-mail address first, then by number, or made', async (t) => {
  const [first, again] = await Promise.all([
    payments.create({ customer_email: 'Awa@Example.com' }),
    payments.create({ customer_email: 'awa@example.com' }),
  ])
  t.match(first['customer'], /^cus_/)
  t.equal(again['customer'], first['customer'], 'two requests at once make one customer')
  const both = { customer_email: 'moussa@example.com', customer_phone: '+221 77 111 11 11' }
  const moussa = await payments.create(both)
  t.not(moussa['customer'], first['customer'])
  const byNumber = await payments.create({ customer_phone: '+221771111111' })
  t.equal(byNumber['customer'], moussa['customer'])
  const byBoth = await payments.create({ customer_email: 'awa@example.com', customer_phone: '+221771111111' })
  t.equal(byBoth['customer'], first['customer'], 'the address comes first')
  const later = await payments.create({ customer_email: 'm2@example.com', customer_phone: '+221771111111' })
  t.equal(later['customer'], moussa['customer'], 'a new address of a known number')
  t.equal((await payments.create({ customer_email: 'm2@example.com' }))['customer'], moussa['customer'])
  const named = await payments.create({ customer: moussa['customer'] })
  t.equal(named['customer'], moussa['customer'])

  const found = await payments.get<{ data: Body[]; total_count: number }>(
    '/api/v1/merchant/customers?search=MOUSSA',
  )
  t.match(found.body, {
    total_count: 1,
    data: [{ id: moussa['customer'], email: 'moussa@example.com', balance: 0 }],
  })
  const one = await payments.get(`/api/v1/merchant/customers/${String(moussa['customer'])}`)
  t.match(one.body, { object: 'customer', phone: '+221771111111', currency: 'XOF', name: null, metadata: {} })
})

t.test('description and metadata can be changed, keys are added or replaced', async (t) => {
  const intent = await payments.create({ metadata: { a: '1', b: '2' } })
  const path = `${intentsPath}/${String(intent['id'])}`
  const changed = await payments.call('PATCH', path, {
    metadata: { b: '3', c: 4, 'technical.x': 'y' },
    description: 'New',
  })
  t.match(changed, { status: 200, body: { description: 'New', metadata: { a: '1', b: '3' } } })
  t.strictSame(changed.body['metadata'], { a: '1', b: '3' })
  const unknown = await payments.call('PATCH', `${intentsPath}/pi_${'0'.repeat(32)}`, { description: 'x' })
  t.match(unknown, { status: 404, body: { code: 'IKW-RES-001' } })
})

t.test('intents are listed newest first, by status and by customer', async (t) => {
  const customer_email = 'list@example.com'
  const older = await payments.create({ customer_email })
  const newer = await payments.create({ customer_email })
  await payments.confirm(newer)
  const byCustomer = `${intentsPath}?customer=${String(older['customer'])}`
  const first = await payments.get<{ data: Body[]; next_cursor: string }>(`${byCustomer}&limit=1`)
  t.match(first.body, { object: 'list', has_more: true, data: [{ id: newer['id'] }] })
  const next = `${byCustomer}&limit=1&cursor=${first.body.next_cursor}`
  const second = await payments.get<{ data: Body[] }>(next)
  t.match(second.body, { has_more: false, next_cursor: null, data: [{ id: older['id'] }] })
  const processing = await payments.get<{ data: Body[] }>(`${byCustomer}&status=processing`)
  t.strictSame(
    processing.body.data.map(({ id }) => id),
    [newer['id']],
  )
})

t.test('the timeline tells each step, newest first', async (t) => {
  const intent = await payments.create()
  const { body } = await payments.confirm(intent)
  await payments.play(intent, 'succeeded')
  const path = `${intentsPath}/${String(intent['id'])}/timeline`
  const first = await payments.get<{ data: Body[]; next_cursor: string }>(`${path}?limit=3`)
  t.strictSame(
    first.body.data.map(({ type }) => type),
    ['succeeded', 'submitted', 'confirmation_started'],
  )
  t.match(first.body, { has_more: true, data: [{ status: 'succeeded', operation_id: body['operation_id'] }] })
  const rest = await payments.get<{ data: Body[] }>(`${path}?cursor=${first.body.next_cursor}`)
  t.match(rest.body, {
    has_more: false,
    data: [{ type: 'created', status: 'requires_payment_method', operation_id: null }],
  })
  t.equal(rest.body.data.length, 1)
})

t.test('the sandbox triggers do not exist in live', async (t) => {
  const key = payments.liveKey
  const callback = { payment_intent_id: `pi_${'0'.repeat(32)}`, status: 'succeeded' }
  t.match(await payments.post('/api/test/mobile-money/callback', callback, { key }), { status: 404 })
  t.match(await payments.post('/api/test/balance/topup', { amount: 1, currency: 'XOF' }, { key }), {
    status: 404,
  })
})
