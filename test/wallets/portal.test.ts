import { randomUUID } from 'node:crypto'
import t from 'tap'
import { identity, publicId } from '../../packages/contract/identity.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { walletTopup } from '../../packages/domain/wallets/topup.ts'
import { createCustomer } from '../support/commerce/billing.ts'
import { answerPayment } from '../support/commerce/checkout.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { otherMerchantsKey } from '../support/credentials.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { invoiceFor } from '../support/commerce/portal.ts'
import { openPortal } from '../support/subscriber.ts'
import { startService, type TestService } from '../support/service.ts'
import { topUp } from '../support/commerce/wallets.ts'

const portal = '/api/v1/customer-portal'

let service: TestService
let customer: string
let key: string

t.before(async () => {
  service = await startService(t)
  customer = await createCustomer(service)
  key = (await openPortal(service, { customerId: customer })).token
})

type Shown = Readonly<Record<string, unknown>>

const wallet = () => service.get<Shown>(`${portal}/wallet`, { key })
const order = {
  amount: 5_000,
  currency: 'XOF',
  country: 'CI',
  operator: 'orange_money',
  msisdn: '+2250700000042',
}
const ask = (body: object = {}, headers: Record<string, string> = {}) =>
  service.post(`${portal}/wallet/topups`, { ...order, ...body }, { key, headers })

t.test('a customer puts money into the wallet, and pays an invoice with it', async (t) => {
  t.match(await wallet(), {
    status: 200,
    body: { object: 'wallet', id: customer, balances: [], transactions: [] },
  })
  const asked = await ask()
  t.match(asked, {
    status: 201,
    body: {
      object: 'wallet_topup',
      id: /^wt_/,
      customer,
      amount: 5_000,
      currency: 'XOF',
      status: 'pending',
      next_action: { type: 'mobile_money_ussd' },
    },
  })
  await answerPayment(service, asked.body['payment_intent'])
  const full = await eventually(wallet, ({ body }) => (body['balances'] as unknown[]).length > 0)
  t.match(full.body, {
    balances: [{ currency: 'XOF', amount: 5_000 }],
    transactions: [
      { direction: 'credit', type: 'topup', amount: 5_000, reference: { object: 'payment', id: /^pay_/ } },
    ],
  })
  const events = await eventually(
    () => service.get<{ data: { data: Shown }[] }>('/api/v1/events?types[]=wallet.topped_up'),
    ({ body }) => body.data.length > 0,
  )
  t.match(events.body.data[0]!.data, { id: asked.body['id'], status: 'succeeded', amount: 5_000 })
  const invoice = await invoiceFor(service, customer, { amountDue: 3_000 })
  const pay = (body: object) => service.post(`${portal}/invoices/${invoice}/pay`, body, { key })
  t.match(await pay({ source: 'wallet' }), {
    status: 200,
    body: { paid: true, checkout_url: null, invoice: { status: 'paid', amount_paid: 3_000 } },
  })
  t.match((await wallet()).body, {
    balances: [{ amount: 2_000 }],
    transactions: [{ direction: 'debit', type: 'invoice', amount: 3_000 }, { type: 'topup' }],
  })
  t.match((await wallet()).body, (await service.get(`${portal}/wallet?currency=XOF`, { key })).body)
  t.match((await service.get(`${portal}/wallet?currency=XAF`, { key })).body, {
    balances: [],
    transactions: [],
  })
  const large = await invoiceFor(service, customer, { amountDue: 9_000 })
  const part = await service.post(`${portal}/invoices/${large}/pay`, { source: 'wallet' }, { key })
  t.match(part, {
    status: 200,
    body: { paid: false, checkout_url: /^http/, invoice: { amount_paid: 2_000 } },
  })
  const empty = await service.post(`${portal}/invoices/${large}/pay`, { source: 'wallet' }, { key })
  t.match(empty, { status: 402, body: { code: 'IKW-BILLING-006' } })
})

t.test('without a telephone the payer pays on a page of ours, and goes back from it', async (t) => {
  const returnUrl = 'https://shop.example/thanks?order=7'
  const session = { customerId: customer, returnUrl: 'https://shop.example/account' }
  const { token } = await openPortal(service, session)
  const asking = (body: object) =>
    service.post(
      `${portal}/wallet/topups`,
      { amount: 600, currency: 'XOF', country: 'CI', ...body },
      { key: token },
    )
  const asked = await asking({ returnUrl })
  t.match(asked, {
    status: 201,
    body: { status: 'pending', next_action: null, checkout_url: new RegExp(`/portal/${token}/topups/wt_`) },
  })
  const { pathname, search } = new URL(String(asked.body['checkout_url']))
  const pageAt = (query: string) => service.get(`${pathname}${query}`, { key: '' })
  t.match((await pageAt(search)).body, { payment_status: 'unpaid', amount: 600, return_url: returnUrl })
  t.match((await pageAt('')).body, { return_url: null })
  const elsewhere = Buffer.from('https://evil.example').toString('base64url')
  t.match((await pageAt(`?back=${elsewhere}.${search.split('.').at(-1)}`)).body, { return_url: null })
  t.match(await asking({ returnUrl: 'https://evil.example/' }), {
    status: 400,
    body: { param: '/returnUrl' },
  })
  t.match(await asking({ operator: 'orange_money' }), { status: 400, body: { param: '/msisdn' } })
  t.match(await asking({ msisdn: '+2250700000042' }), { status: 400, body: { param: '/operator' } })
  const invoice = await invoiceFor(service, customer, { amountDue: 400 })
  const pay = (body: object) => service.post(`${portal}/invoices/${invoice}/pay`, body, { key: token })
  const paying = new URL(String((await pay({ returnUrl })).body['checkout_url']))
  const shown = await service.get(paying.pathname + paying.search, { key: '' })
  t.match(shown, { status: 200, body: { amount_left: 400, return_url: returnUrl } })
  t.match(await pay({ returnUrl: 'https://evil.example/' }), { status: 400, body: { param: '/returnUrl' } })
  const page = await fetch(service.url + paying.pathname + paying.search, {
    headers: { accept: 'text/html' },
  })
  t.match(await page.text(), 'href="https://shop.example/thanks?order=7"')
})

t.test('asked ten times with one key, the payer is asked once', async (t) => {
  const headers = { 'idempotency-key': randomUUID() }
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask({ amount: 700 }, headers)))
  await lawOver(t, answers, ({ status, body }) => t.ok([201, 409].includes(status), JSON.stringify(body)))
  const again = await ask({ amount: 700 }, headers)
  t.equal(again.status, 201)
  const made = answers.filter(({ status }) => status === 201)
  t.ok(made.every(({ body }) => body['id'] === again.body['id']))
})

t.test('a key stands for what it has asked and paid, also when its answer is forgotten', async (t) => {
  const { pool } = service.service.runtime.postgres
  const forget = () => pool.query("update answers set started_at = started_at - interval '31 days'")
  const headers = { 'idempotency-key': randomUUID() }
  const asked = await ask({ amount: 600 }, headers)
  await topUp(service, { customer, amount: 400 })
  const bills = [1, 2].map(() => invoiceFor(service, customer, { amountDue: 200 }))
  const [one, two] = await Promise.all(bills)
  const paths = [one, two].map((id) => `/api/v1/merchant/billing/wallet/invoices/${id}/apply`)
  const [paid, other] = paths as [string, string]
  const applied = await service.post(paid, {}, { headers })
  t.match(applied, { status: 200, body: { invoice: one } })
  await forget()
  const another = { status: 409, body: { code: 'IKW-REQ-003' } }
  t.match(await ask({ amount: 700 }, headers), another)
  t.match(await service.post(other, {}, { headers }), another)
  await forget()
  t.equal((await ask({ amount: 600 }, headers)).body['id'], asked.body['id'])
  t.strictSame((await service.post(paid, {}, { headers })).body, applied.body)
})

t.test('what is wrong is named as it was sent', async (t) => {
  t.match(await ask({ msisdn: '+2250700' }), { status: 400, body: { param: '/msisdn' } })
  t.match(await ask({ operator: 'nobody' }), { status: 400, body: { param: '/operator' } })
  t.match(await ask({ country: 'FR' }), {
    status: 400,
    body: { code: 'IKW-TRANSFER-001', param: '/country' },
  })
  t.match(await ask({ currency: 'XAF' }), { status: 400, body: { param: '/operator' } })
  t.match(await ask({ amount: 0 }), { status: 400, body: { param: '/amount' } })
})

t.test('another customer sees another wallet, and a portal without it sees none', async (t) => {
  const stranger = await createCustomer(service)
  await topUp(service, { customer: stranger, amount: 800 })
  const other = (await openPortal(service, { customerId: stranger, permissions: ['invoices'] })).token
  t.match(await service.get(`${portal}/wallet`, { key: other }), {
    status: 403,
    body: { code: 'IKW-PORTAL-002' },
  })
  t.equal((await service.post(`${portal}/wallet/topups`, order, { key: other })).status, 403)
  const own = await invoiceFor(service, stranger, { amountDue: 300 })
  const pay = (token: string) =>
    service.post(`${portal}/invoices/${own}/pay`, { source: 'wallet' }, { key: token })
  t.match(await pay(other), { status: 403, body: { code: 'IKW-PORTAL-002' } })
  t.equal((await pay(key)).status, 404)
  const whole = (await openPortal(service, { customerId: stranger })).token
  t.match(await service.get(`${portal}/wallet`, { key: whole }), { body: { balances: [{ amount: 800 }] } })
})

const unpaid = { amount: 500, currency: 'XOF', country: 'CI' }

async function othersCustomer() {
  const id = randomUUID()
  const own = await otherMerchantsKey(service, id)
  const customer_email = `${randomUUID()}@example.com`
  const wish = { amount: 1_000, currency: 'XOF', transaction_country: 'CI', customer_email }
  const customerId = String(
    (await service.post('/api/v1/payment-intents', wish, { key: own })).body['customer'],
  )
  const envelope = { merchant: id, livemode: false, actor: 'test', correlation: 'test' }
  return { own, customerId, envelope, ...(await openPortal(service, { customerId }, own)) }
}

t.test('a top-up that nobody pays fails after a day, with its payment', async (t) => {
  const { own, customerId, envelope, token } = await othersCustomer()
  const asked = await service.post(`${portal}/wallet/topups`, unpaid, { key: token })
  const { dependencies } = service.service.runtime
  const [bare, intent] = [dependencies.newId(), dependencies.newId()]
  const terms = { customer: identity(customerId, 'cus')!, amount: 300, currency: 'XOF' }
  const request = { type: 'RequestTopup', data: { ...terms, paymentIntent: intent } } as const
  await dependencies.executor.send(walletTopup, bare, request, envelope)
  const advance = (seconds: number) =>
    service.post('/api/test/clock', { advance_seconds: seconds }, { key: own })
  const topups = [String(asked.body['id']), publicId('wt', bare)]
  const shown = async (id: string) =>
    (await service.get<Shown>(`${portal}/wallet/topups/${id}`, { key: token })).body
  await advance(86_000)
  await eventually(
    () => dependencies.reads.page<{ kind: string }>({ from: 'timers', where: [], order: 'id', limit: 1_000 }),
    ({ rows }) => rows.filter(({ kind }) => kind === 'topup_expiry').length >= topups.length,
  )
  await lawOver(t, topups, async (id) => t.match(await shown(id), { status: 'pending' }, id))
  await advance(500)
  await lawOver(t, topups, async (id) => {
    const ended = await eventually(
      () => shown(id),
      ({ status }) => status !== 'pending',
    )
    t.match(ended, { status: 'failed' }, id)
    const payment = `/api/v1/payment-intents/${String(ended['payment_intent'])}`
    t.match((await service.get(payment, { key: own })).body, { status: 'canceled' }, 'nobody can pay it')
  })
})

t.test(
  'who is suspended lets nothing be put in or taken out, and what was paid before arrives',
  async (t) => {
    const { own, customerId, envelope, token } = await othersCustomer()
    const post = (path: string, body: object, by = token) => service.post<Shown>(path, body, { key: by })
    const top = (body: object) => post(`${portal}/wallet/topups`, body)
    const bill = { customerId, currency: 'XOF', amountDue: 2_000 }
    const invoice = String((await post('/api/v1/billing/invoices', bill, own)).body['id'])
    const page = new URL(String((await top(unpaid)).body['checkout_url'])).pathname
    const paid = { payment_intent_id: (await top(order)).body['payment_intent'], status: 'succeeded' }
    await post('/api/test/mobile-money/callback', paid, own)
    const { executor } = service.service.runtime.dependencies
    const move = (type: 'SuspendMerchant' | 'ActivateMerchant') =>
      executor.send(merchant, envelope.merchant, { type, data: { reason: 'test' } }, envelope)
    await move('SuspendMerchant')
    const balance = () => service.get<{ balances: { amount: number }[] }>(`${portal}/wallet`, { key: token })
    await eventually(balance, ({ body }) => body.balances[0]?.amount === 5_000)
    const form = { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '0700000042' }
    const payByWallet = () => post(`${portal}/invoices/${invoice}/pay`, { source: 'wallet' })
    const tries = [
      () => top(order),
      () => post(`${page}/pay`, form, ''),
      () => post(`${page.split('/topups')[0]!}/topups`, { Amount: '500' }, ''),
      payByWallet,
      () => post(`/api/v1/merchant/billing/wallet/invoices/${invoice}/apply`, {}, own),
    ]
    await lawOver(t, tries, async (attempt) =>
      t.match(await attempt(), { status: 403, body: { code: 'IKW-MERCHANT-002' } }),
    )
    t.match((await balance()).body, { balances: [{ amount: 5_000 }] }, 'it is still the customer’s')
    await move('ActivateMerchant')
    t.match(await payByWallet(), { body: { paid: true } })
  },
)

testConservation(() => service)
