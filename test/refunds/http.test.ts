import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>
type Page = { data: Body[]; total_count?: number; has_more: boolean; next_cursor: string | null }

let service: TestService

/** Nested tests share one service, so each looks only at what it has made itself. */
t.before(async () => {
  service = await startService(t)
})

/** An intent that its payer has paid, and whose money is in the book. */
async function paid(method: object, currency = 'XOF'): Promise<Body> {
  const created = await service.post('/api/v1/payment-intents', {
    amount: 5_000,
    currency,
    transaction_country: 'SN',
  })
  const path = `/api/v1/payment-intents/${String(created.body['id'])}`
  const confirmed = await service.post(`${path}/confirm`, { payment_method: method })
  if (confirmed.body['status'] === 'processing' && 'mobile_money' in method) {
    await service.post('/api/test/mobile-money/callback', {
      payment_intent_id: created.body['id'],
      status: 'succeeded',
    })
  }
  await eventually(
    () => service.get(path),
    ({ body }) => body['status'] === 'succeeded',
  )
  const payment = paymentOf(created.body)
  const entries = () => service.get<Page>(`/api/v1/balance-transactions?source=${payment}`)
  await eventually(entries, ({ body }) => body.data.length === 1)
  return created.body
}

const orange = (msisdn = '+221770000000') => ({
  type: 'mobile_money',
  mobile_money: { country: 'SN', operator: 'orange_money', msisdn },
})
const card = { type: 'card', card: { token: 'tok_instant' } }

function paymentOf(intent: Body): string {
  return String(intent['id']).replace('pi_', 'pay_')
}

function refund(id: unknown, body: object = {}, headers: Readonly<Record<string, string>> = {}) {
  return service.post(`/api/v1/merchant/payments/${String(id)}/refund`, body, { headers })
}

async function balance(currency = 'XOF') {
  const { body } = await service.get<Record<string, { amount: number }[]>>(
    `/api/v1/balance?currency=${currency}`,
  )
  const amount = (part: string) => body[part]![0]!.amount
  return { available: amount('available'), pending: amount('pending'), reserved: amount('reserved') }
}

function reaching(refundId: unknown, intent: Body, status: string) {
  return eventually(
    async () => (await service.get<Page>(`/api/v1/merchant/payments/${paymentOf(intent)}/refunds`)).body.data,
    (refunds) => refunds.some((each) => each['id'] === refundId && each['status'] === status),
  )
}

t.test('a payment is refunded in parts, and never beyond what was paid', async (t) => {
  const before = await balance()
  const intent = await paid(orange())
  t.strictSame(await balance(), { ...before, available: before.available + 4_900 }, 'two percent are the fee')
  const first = await refund(paymentOf(intent), { amount: 2_000, reason: 'requested_by_customer' })
  t.equal(first.status, 201)
  t.match(first.body, {
    id: /^re_[0-9a-f]{32}$/,
    object: 'refund',
    amount: 2_000,
    currency: 'xof',
    payment_intent: intent['id'],
    payment: paymentOf(intent),
    reason: 'requested_by_customer',
    failure_code: null,
    source: null,
  })
  t.match(await refund(intent['id'], { amount: 3_001 }), { status: 400, body: { code: 'IKW-TRANSFER-004' } })
  await reaching(first.body['id'], intent, 'succeeded')
  const rest = await refund(intent['id'])
  t.match(rest, { status: 201, body: { amount: 3_000, reason: null } })
  await reaching(rest.body['id'], intent, 'succeeded')
  const settled = await eventually(balance, ({ reserved }) => reserved === before.reserved)
  t.strictSame(settled, { ...before, available: before.available - 100 }, 'the fee is not given back')
  t.match(await refund(intent['id']), { status: 409, body: { code: 'IKW-TRANSFER-007' } })
  const shown = () => service.get(`/api/v1/merchant/payments/${paymentOf(intent)}`)
  const payment = await eventually(shown, ({ body }) => body['status'] === 'refunded')
  t.match(payment.body, {
    object: 'payment',
    amount: 5_000,
    amount_received: 5_000,
    refunded_amount: 5_000,
    can_refund: false,
    fee: 100,
    net: 4_900,
    payment_method: 'mobile_money',
    operator: 'orange_money',
    country: 'SN',
    customer_phone: '0000',
    purpose: 'payment',
    source: null,
    refunds: [{ id: rest.body['id'] }, { id: first.body['id'] }],
    timeline: [{ type: 'created' }, { type: 'confirmation_started' }],
  })
})

t.test('refunds of one payment that are asked for at once never exceed it', async (t) => {
  const intent = await paid(orange())
  const answers = await Promise.all(Array.from({ length: 10 }, () => refund(intent['id'], { amount: 2_000 })))
  t.equal(answers.filter(({ status }) => status === 201).length, 2)
  t.equal(answers.filter(({ status }) => status === 400).length, 8)
})

t.test('the same idempotency key refunds once', async (t) => {
  const intent = await paid(orange())
  const headers = { 'idempotency-key': 'refund-7' }
  const first = await refund(intent['id'], { amount: 1_000 }, headers)
  const again = await refund(intent['id'], { amount: 1_000 }, headers)
  t.strictSame(again.body, first.body)
  const { body } = await service.get<Page>(`/api/v1/merchant/payments/${paymentOf(intent)}/refunds`)
  t.equal(body.data.length, 1)
})

t.test('a refund that the provider refuses gives its amount back', async (t) => {
  const intent = await paid(orange('+221770000009'))
  const before = await balance()
  const { body } = await refund(intent['id'], { amount: 2_000 })
  await reaching(body['id'], intent, 'failed')
  t.strictSame(await eventually(balance, ({ reserved }) => reserved === before.reserved), before)
  const again = () => refund(intent['id'])
  t.match(
    await eventually(again, ({ body }) => body['amount'] === 5_000),
    { status: 201 },
    'all is refundable again',
  )
  const path = `/operations/status/${String(body['id'])}`
  const operation = await eventually(
    () => service.get(path, { key: '' }),
    ({ body }) => body['status'] === 'failed',
  )
  t.match(operation.body, { type: 'refund', resource: { object: 'refund', id: body['id'] } })
})

t.test('a refund that the balance does not cover leaves no trace', async (t) => {
  const intent = await paid(card, 'EUR')
  const spent = await paid(card, 'EUR')
  t.match(await balance('EUR'), { available: 0, pending: 9_680, reserved: 0 })
  t.match(await refund(intent['id'], { amount: 4_900 }), { status: 402, body: { code: 'IKW-TRANSFER-005' } })
  t.match(await balance('EUR'), { available: 0, pending: 9_680, reserved: 0 })
  t.match(await service.get(`/api/v1/merchant/payments/${paymentOf(intent)}`), {
    body: { can_refund: true, refunds: [] },
  })
  t.match(
    await refund(intent['id'], { amount: 4_800 }),
    { status: 201 },
    'what is pending of the payment itself is enough',
  )
  t.ok(spent['id'])
})

t.test('what is no payment cannot be refunded', async (t) => {
  const created = await service.post('/api/v1/payment-intents', {
    amount: 5_000,
    currency: 'XOF',
    transaction_country: 'SN',
  })
  t.match(await refund(created.body['id']), { status: 409, body: { code: 'IKW-TRANSFER-007' } })
  t.match(await refund(`pay_${'0'.repeat(32)}`), { status: 404, body: { code: 'IKW-RES-001' } })
  t.match(await service.get(`/api/v1/merchant/payments/${paymentOf(created.body)}`), { status: 404 })
})

t.test('payments are listed by page, status, period and search', async (t) => {
  const intent = await paid(orange())
  const path = `/api/v1/payment-intents/${String(intent['id'])}`
  await service.call('PATCH', path, { metadata: { order: 'needle-4711' } })
  const found = await service.get<Page>('/api/v1/merchant/payments?search=NEEDLE')
  t.match(found.body, {
    total_count: 1,
    page: 1,
    limit: 20,
    data: [{ id: paymentOf(intent), status: 'succeeded' }],
  })
  const later = new Date(Date.now() + 60_000).toISOString()
  t.match((await service.get<Page>(`/api/v1/merchant/payments?from=${later}`)).body, { total_count: 0 })
  t.match((await service.get<Page>('/api/v1/merchant/payments?search=needle&status=refunded')).body, {
    total_count: 0,
  })
})

t.test('the balance of a time is what was there then', async (t) => {
  const before = await service.get('/api/v1/balance')
  const topUp = await service.post('/api/test/balance/topup', { amount: 700, currency: 'GNF' })
  t.match(topUp.body, { object: 'balance', livemode: false })
  const then = await service.get(`/api/v1/balance?as_of=${String(before.body['as_of'])}`)
  t.strictSame(then.body, before.body)
  t.match((await service.get('/api/v1/balance?currency=gnf')).body, {
    available: [{ amount: 700, currency: 'GNF' }],
  })
  t.match((await service.get('/api/v1/balance', { key: service.liveKey })).body, {
    livemode: true,
    available: [],
  })
})

t.test('balance transactions name their source, and are found by either spelling of it', async (t) => {
  const intent = await paid(card)
  const id = paymentOf(intent)
  const bare = identity(id, 'pay')!
  for (const source of [id, bare]) {
    const { body } = await service.get<Page>(
      `/api/v1/balance-transactions?source=${source}&type=payment&currency=xof`,
    )
    t.match(body.data, [
      {
        id: /^txn_/,
        type: 'payment',
        status: 'pending',
        amount: 5_000,
        fee: 245,
        net: 4_755,
        currency: 'XOF',
        source: id,
        fee_details: [{ type: 'payment_fee', amount: 245 }],
      },
    ])
  }
  const asked = await refund(id, { amount: 1_000 })
  const taken = () => service.get<Page>(`/api/v1/balance-transactions?source=${String(asked.body['id'])}`)
  const { body } = await eventually(taken, (answer) => answer.body.data.length > 0)
  t.match(body.data, [{ type: 'refund', amount: -1_000, fee: 0, net: -1_000 }])
})

t.test('a fee is quoted without being charged', async (t) => {
  const quote = { amount: 10_000, currency: 'xof', payment_method_type: 'card', fee_mode: 'customer_pays' }
  t.match(await service.post('/api/v1/fees/quote', quote), {
    status: 200,
    body: {
      object: 'fee_quote',
      operation: 'payment',
      currency: 'XOF',
      fee: 390,
      total_amount: 10_390,
      net_amount: 10_000,
      fee_details: [
        { type: 'percent', bps: 290, amount: 290 },
        { type: 'fixed', bps: null, amount: 100 },
      ],
    },
  })
  const unserved = [
    [{ operator: 'nope' }, '/operator'],
    [{ operator: 'mtn', country: 'SN' }, '/operator'],
    [{ operator: 'wave', country: 'CI', currency: 'EUR' }, '/currency'],
    [{ country: 'FR' }, '/country'],
    [{ country: 'CM' }, '/currency'],
    [{ operator: 'wave', currency: 'XAF' }, '/currency'],
    [{ currency: 'NGN' }, '/currency'],
    [{ operator: 'wave', payment_method_type: 'card' }, '/operator'],
    [{ country: 'FR', payment_method_type: 'card' }, '/country'],
    [{ operator: 'wave', operation: 'wallet_apply' }, '/operator'],
    [{ country: 'SN', currency: 'GNF', payment_method_type: 'card' }, '/currency'],
    [{ currency: 'GNF', payment_method_type: 'card' }, '/currency'],
    [{ currency: 'GNF', payment_method_type: 'bank', operation: 'payout' }, '/currency'],
    [{ country: 'US', currency: 'USD', payment_method_type: 'bank', operation: 'payout' }, '/country'],
  ] as const
  for (const [wish, param] of unserved) {
    const answer = await service.post('/api/v1/fees/quote', { amount: 500, currency: 'XOF', ...wish })
    t.match(answer, { status: 400, body: { code: 'IKW-TRANSFER-001', param } })
  }
  const nothing = { amount: 1, currency: 'JPY', operation: 'payout' }
  t.match(await service.post('/api/v1/fees/quote', nothing), {
    status: 400,
    body: { code: 'IKW-TRANSFER-001' },
  })
})

t.test('countries can be searched, and tell whether payments are taken there', async (t) => {
  const supported = await service.get<Page>('/api/v1/geography/countries?supported=true', { key: '' })
  t.strictSame(
    supported.body.data.map(({ id }) => id),
    ['BF', 'CD', 'CI', 'CM', 'GN', 'ML', 'SN'],
  )
  const found = await service.get<Page>('/api/v1/geography/countries?search=senegal', { key: '' })
  t.match(found.body.data, [
    { id: 'SN', object: 'country', name: 'Senegal', calling_code: '+221', currency: 'XOF', supported: true },
  ])
})
