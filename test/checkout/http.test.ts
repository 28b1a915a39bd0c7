import t from 'tap'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { answerPayment, byPhone, openSession, waiting } from '../support/commerce/checkout.ts'
import { otherMerchantsKey } from '../support/credentials.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const session = async (id: string) => (await service.get(`/api/v1/checkout/sessions/${id}`)).body
const pay = (id: string, body: unknown = byPhone()) =>
  service.post(`/api/checkout/${id}/pay`, body, { key: '' })
const intent = async (id: unknown) => (await service.get(`/api/v1/payment-intents/${String(id)}`)).body

t.test('a payer pays a session, the merchant is told, and the book shows it', async (t) => {
  const before = await available()
  const { id } = await openSession(service, {
    successUrl: 'https://shop.example/thanks?order=7&session={CHECKOUT_SESSION_ID}',
    metadata: { order: { number: 7 } },
  })
  t.match(await session(id), { status: 'open', payment_status: 'unpaid', metadata: { order: { number: 7 } } })
  const paying = await pay(id)
  t.match(paying, { status: 200, body: { status: 'processing', next_action: { type: 'mobile_money_ussd' } } })
  t.match(await session(id), { status: 'open', payment_status: 'processing' })
  t.match((await service.get(`/api/checkout/${id}/status`, { key: '' })).body, {
    payment_status: 'processing',
    operation_id: paying.body['operation_id'],
    poll_after_ms: 1_500,
  })
  await answerPayment(service, paying.body['payment_intent'])
  await eventually(
    () => session(id),
    ({ status }) => status === 'completed',
  )
  t.match(await session(id), {
    payment_status: 'paid',
    payment_intent: paying.body['payment_intent'],
    success_url: `https://shop.example/thanks?order=7&session=${id}`,
  })
  const told = await eventually(
    () => service.get<{ data: { type: string; data: { id: string } }[] }>('/api/v1/events?limit=100'),
    ({ body }) => body.data.some(({ type, data }) => type === 'checkout_session.completed' && data.id === id),
  )
  const { data } = told.body.data.find(({ data }) => data.id === id)!
  t.match(data, { object: 'checkout_session', payment_status: 'paid', currency: 'xof' })
  await eventually(available, (now) => now === before + 4_900)
  const { data: listed } = (
    await eventually(
      () => service.get<{ data: object[] }>('/api/v1/merchant/payments?limit=1'),
      ({ body }) => body.data.length > 0,
    )
  ).body
  t.match(listed, [{ purpose: 'checkout', source: { object: 'checkout_session' }, amount: 5_000, fee: 100 }])
})

async function available(): Promise<number> {
  const { body } = await service.get<{ available: { amount: number }[] }>('/api/v1/balance')
  return body.available[0]!.amount
}

t.test('ten presses at once are one payment', async (t) => {
  const { id } = await openSession(service, { deferPaymentIntentCreation: true })
  t.equal((await session(id))['payment_intent'], null)
  const answers = await Promise.all(Array.from({ length: 10 }, () => pay(id)))
  const [paid] = answers.filter(({ status }) => status === 200)
  t.ok(paid)
  for (const { status, body } of answers)
    t.ok(status === 200 || body['code'] === 'IKW-RES-003', JSON.stringify(body))
  t.equal(
    (await pay(id)).body['payment_intent'],
    paid!.body['payment_intent'],
    'and so is one that comes later',
  )
  t.equal((await pay(id)).body['operation_id'], paid!.body['operation_id'])
  await answerPayment(service, paid!.body['payment_intent'])
  t.match(await pay(id), { status: 200, body: { status: 'succeeded' } }, 'also after it was paid')
})

t.test('after a failed try the payer tries again with another intent', async (t) => {
  const { id } = await openSession(service)
  const one = await pay(id)
  await answerPayment(service, one.body['payment_intent'], 'failed')
  t.match(await session(id), { status: 'open', payment_status: 'unpaid' })
  const other = await pay(id, byPhone({ ...waiting, operator: 'mtn' }))
  t.match(other, { status: 200, body: { status: 'processing' } })
  t.not(other.body['payment_intent'], one.body['payment_intent'])
  await answerPayment(service, other.body['payment_intent'])
  await eventually(
    () => session(id),
    ({ status }) => status === 'completed',
  )
})

t.test('a mistyped number leaves nothing behind', async (t) => {
  const { id } = await openSession(service)
  const refused = await pay(id, byPhone({ ...waiting, msisdn: '+22507' + '0'.repeat(5) }))
  t.match(refused, {
    status: 400,
    body: { code: 'IKW-TRANSFER-002', param: '/payment_method/mobile_money/msisdn' },
  })
  const { body } = await service.get<{ data: unknown[] }>(`/api/v1/checkout/sessions/${id}/history`)
  t.equal(body.data.length, 2, 'opened, with its intent')
})

t.test('what is not offered is refused by name', async (t) => {
  const { id } = await openSession(service, { paymentMethodTypes: ['mobile_money'] })
  const card = { payment_method: { type: 'card', card: { token: 'tok_visa' } } }
  t.match(await pay(id, card), { status: 400, body: { code: 'IKW-CHK-003' } })
  t.match(await pay(id, {}), { status: 400, body: { code: 'IKW-REQ-001', param: '/payment_method' } })
  const other = { ...byPhone(), session_id: `cs_${'0'.repeat(32)}` }
  t.match(await pay(id, other), { status: 400, body: { param: '/session_id' } })
  const more = { ...byPhone(), collected: { amount: 4_000 } }
  t.match(await pay(id, more), { status: 400, body: { code: 'IKW-CHK-004', param: '/collected/amount' } })
})

t.test('a session needs an amount, a place where it can be paid and addresses of the web', async (t) => {
  const open = (body: unknown) => service.post('/api/v1/checkout/sessions', body)
  t.match(await open({}), { status: 400, body: { code: 'IKW-CHK-004', param: '/amount' } })
  t.match(await open({ amount: 5_000, country: 'FR' }), { status: 400, body: { code: 'IKW-TRANSFER-001' } })
  t.match(await open({ amount: 5_000, currency: 'GNF', country: 'GN', paymentMethodTypes: ['card'] }), {
    status: 400,
    body: { code: 'IKW-CHK-003', param: '/paymentMethodTypes/0' },
  })
  const long = { amount: 5_000, metadata: { long: 'x'.repeat(16_000) } }
  t.match(await open(long), { status: 400, body: { param: '/metadata' } })
  for (const successUrl of [
    'javascript:alert(1)',
    'https://',
    'https://shop.example:0/',
    'ftp://shop.example/',
  ])
    t.match(await open({ amount: 5_000, successUrl }), { status: 400, body: { param: '/successUrl' } })
})

t.test('the payer gives up: then nobody can pay any more', async (t) => {
  const { id } = await openSession(service, { cancelUrl: 'https://shop.example/cart' })
  const answer = await service.post(`/api/checkout/${id}/cancel`, undefined, { key: '' })
  t.match(answer, {
    status: 200,
    body: { status: 'canceled', cancel_url: `https://shop.example/cart?session_id=${id}` },
  })
  t.match(await pay(id), { status: 400, body: { code: 'IKW-CHK-002' } })
  t.match(await intent((await session(id))['payment_intent']), { status: 'canceled' })
})

t.test('what waits on the phone is not canceled', async (t) => {
  const { id } = await openSession(service)
  const { body } = await pay(id)
  t.match(await service.post(`/api/checkout/${id}/cancel`, undefined, { key: '' }), {
    status: 409,
    body: { code: 'IKW-RES-002' },
  })
  await answerPayment(service, body['payment_intent'])
})

t.test('a receipt shows what was paid to whom, and of the number only its end', async (t) => {
  const { id } = await openSession(service)
  const receipt = () => service.get(`/api/checkout/${id}/receipt`, { key: '' })
  t.match(await receipt(), { status: 409, body: { code: 'IKW-RES-002' } })
  const { body } = await pay(id, { ...byPhone(), collected: { name: 'Awa Koné', email: 'awa@example.com' } })
  await answerPayment(service, body['payment_intent'])
  t.match(await receipt(), {
    status: 200,
    body: {
      amount: 5_000,
      fee: null,
      payer: { name: 'Awa Koné', email: 'awa@example.com', phone: '0042' },
      operator: 'orange_money',
      number: /^\d{8}-[0-9A-F]{12}$/,
    },
  })
  t.match(await session(id), { customer: /^cus_/, customer_email: 'awa@example.com' })
  await service.post(`/api/v1/merchant/payments/${body['payment_intent']}/refund`, { amount: 1_000 })
  await eventually(receipt, ({ body }) => body['refunded_amount'] === 1_000)
})

t.test('a session expires when its day is over, and its intent with it', async (t) => {
  const { id } = await openSession(service)
  const busy = await openSession(service)
  const { body: under } = await pay(busy.id)
  await service.post('/api/test/clock', { advance_seconds: 24 * 3_600 })
  await eventually(
    () => session(id),
    ({ status }) => status === 'expired',
  )
  t.match(await intent((await session(id))['payment_intent']), { status: 'canceled' })
  t.match(await pay(id), { status: 400, body: { code: 'IKW-CHK-002' } })
  t.match(
    await session(busy.id),
    { status: 'open', payment_status: 'processing' },
    'its payer is about to pay',
  )
  await answerPayment(service, under['payment_intent'])
  await eventually(
    () => session(busy.id),
    ({ status }) => status === 'completed',
  )
})

t.test('an id of a session cannot be computed from what its merchant has sent', async (t) => {
  const order = { amount: 5_000, currency: 'XOF', country: 'CI' }
  const headers = { 'idempotency-key': 'order-1042' }
  const one = await service.post('/api/v1/checkout/sessions', order, { headers })
  const again = await service.post('/api/v1/checkout/sessions', order, { headers })
  t.equal(one.body['id'], again.body['id'])
  const key = await otherMerchantsKey(service)
  const theirs = await service.post('/api/v1/checkout/sessions', order, { headers, key })
  t.not(theirs.body['id'], one.body['id'])
  const used = await service.get<{ uses: { resource_id: string }[] }>('/api/v1/idempotency-keys/order-1042')
  t.equal(used.body.uses[0]!.resource_id, one.body['id'])
  const bare = String(one.body['id']).slice('cs_'.length)
  t.equal(bare[12], '8', 'it is a keyed hash')
})

t.test('fees of a session are quoted by its own terms', async (t) => {
  const { id } = await openSession(service)
  const quote = (body: unknown) => service.post(`/api/v1/checkout/sessions/${id}/fee_quote`, body)
  t.match(await quote({}), { status: 200, body: { amount: 5_000, fee: 100, total_amount: 5_000 } })
  t.match(await quote({ payment_method_type: 'card' }), { status: 200, body: { fee: 245 } })
})

testConservation(() => service)
