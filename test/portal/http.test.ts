import { randomUUID } from 'node:crypto'
import t from 'tap'
import { credentialsOf, portalPermissions } from '../../packages/contract/access/callers.ts'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { routes } from '../../services/families.ts'
import { createCustomer, createPlan, subscribe } from '../support/commerce/billing.ts'
import { issueKey, otherMerchantsKey } from '../support/credentials.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { invoiceFor, paymentOf } from '../support/commerce/portal.ts'
import { openPortal } from '../support/subscriber.ts'
import { unknownSample } from '../support/samples.ts'
import { startService, type TestService } from '../support/service.ts'

const sessions = '/api/v1/customer-portal/sessions'
const portal = '/api/v1/customer-portal'
const rows = routes.filter((route) => credentialsOf(route).includes('customer_portal'))

interface Listed {
  readonly data: readonly { readonly id: string; readonly status: string }[]
}

let service: TestService
let aheadMs = 0
let customer: string
let stranger: string
let token: string

t.before(async () => {
  const options = { clock: () => new Date(Date.now() + aheadMs), keysFreshMs: 100 }
  service = await startService(t, {}, options)
  ;[customer, stranger] = [await createCustomer(service), await createCustomer(service)]
  token = (await openPortal(service, { customerId: customer, returnUrl: 'https://shop.example/me' })).token
})

const listed = (path: string, key = token) => service.get<Listed>(`${portal}/${path}`, { key })

async function idsIn(path: string, key = token): Promise<readonly string[]> {
  return (await listed(path, key)).body.data.map(({ id }) => id)
}

t.test('a session shows who the customer is, and its token only once', async (t) => {
  const headers = { 'idempotency-key': randomUUID() }
  const asked = { customerId: customer, returnUrl: 'https://shop.example/me', permissions: ['invoices'] }
  const opened = await service.post(sessions, asked, { headers })
  t.match(opened, {
    status: 201,
    body: {
      object: 'portal_session',
      customer: { id: customer, email: /@example.com$/ },
      permissions: ['invoices'],
      return_url: 'https://shop.example/me',
      token: /^pst_test_/,
    },
  })
  const { id, token: secret, url } = opened.body as Record<string, string>
  t.match(url, new RegExp(`/portal/${secret}$`))
  t.strictSame(
    (await service.post(sessions, asked, { headers })).body,
    opened.body,
    'a repeat is told the same',
  )
  const { token: _, ...rest } = opened.body
  t.strictSame((await service.get(`${portal}/session`, { key: secret! })).body, rest)
  const seen = await service.get(`${sessions}/${id}`)
  t.strictSame(seen.body, { ...rest, url: null }, 'the merchant does not see the token again')
  const { rows: texts } = await service.service.runtime.postgres.pool.query<{ text: string }>(
    `select data::text || metadata::text as text from events where stream like 'portal_session-%'
     union all select body::text from answers where operation like '%/customer-portal/%'`,
  )
  t.not(texts.length, 0)
  t.notOk(
    texts.some(({ text }) => text.includes(secret!.slice(-44))),
    'the secret is stored nowhere',
  )
})

t.test('only a server of the merchant opens a portal, for customers of its own', async (t) => {
  const refused = async (key: string, customerId = customer) =>
    (await service.post(sessions, { customerId }, { key })).status
  t.equal(await refused(await issueKey(service, { scopes: ['customers.read'] })), 403)
  t.equal(await refused(token), 403, 'a customer opens no other portal')
  t.equal(await refused(await otherMerchantsKey(service)), 404)
  t.equal(await refused(service.liveKey), 404)
  t.equal(await refused(service.sandboxKey, `cus_${randomUUID().replaceAll('-', '')}`), 404)
  const to = (returnUrl: string) => service.post(sessions, { customerId: customer, returnUrl })
  await lawOver(
    t,
    [
      'javascript:alert(1)',
      'https://',
      'shop.example',
      'https://shop example/',
      'https://shop.example\\@evil.example/',
      'https://awa:x@shop.example/',
    ],
    async (url) => t.match(await to(url), { status: 400, body: { param: '/returnUrl' } }, url),
  )
})

t.test('a row of the portal takes its token and nothing else, and no other row takes it', async (t) => {
  await lawOver(
    t,
    routes.filter(({ scope }) => scope !== 'public'),
    async (route) => {
      const { path, body } = unknownSample(route)
      const asked = async (key: string) =>
        (await service.call(partsOf(route).method, path, body, { key })).status
      if (!rows.includes(route)) return t.equal(await asked(token), 403, route.operation)
      t.not(await asked(token), 403, route.operation)
      return t.equal(await asked(service.sandboxKey), 403, route.operation)
    },
  )
})

t.test('what is no token, or no more, opens no row', async (t) => {
  const changed = token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  const ofNobody = token.replace(/(?<=^pst_test_).{32}/, randomUUID().replaceAll('-', ''))
  await lawOver(
    t,
    ['pst_', 'pst_test_', changed, ofNobody, `${token}A`, token.toUpperCase()],
    async (key) => {
      await lawOver(t, rows, async (route) => {
        const { path, body } = unknownSample(route)
        const answer = await service.call(partsOf(route).method, path, body, { key })
        t.match(answer, { status: 401, body: { code: 'IKW-PORTAL-001' } }, `${route.operation} ${key}`)
      })
    },
  )
})

t.test('a portal allows what it was opened with', async (t) => {
  const permitted = rows.filter(({ permission }) => permission !== undefined)
  await lawOver(t, portalPermissions, async (permission) => {
    const others = portalPermissions.filter((one) => one !== permission)
    const { token: key } = await openPortal(service, { customerId: customer, permissions: others })
    await lawOver(t, permitted, async (route) => {
      const { path, body } = unknownSample(route)
      const answer = await service.call(partsOf(route).method, path, body, { key })
      const isRefused = answer.status === 403 && answer.body['code'] === 'IKW-PORTAL-002'
      t.equal(isRefused, route.permission === permission, `${route.operation} without ${permission}`)
    })
  })
})

t.test('a customer sees what is the customer’s own, and nothing that the merchant keeps', async (t) => {
  const customerId = await createCustomer(service)
  const { token: key } = await openPortal(service, { customerId })
  const open = await invoiceFor(service, customerId)
  const draft = await service.post('/api/v1/merchant/invoices', {
    customer: customerId,
    amount: 1_000,
    currency: 'XOF',
    status: 'draft',
    metadata: { margin: 'high' },
  })
  const subscription = await subscribe(service, { customerId })
  await Promise.all([invoiceFor(service, stranger), subscribe(service, { customerId: stranger })])
  const payment = await paymentOf(service, customerId)
  await paymentOf(service, stranger)
  const invoices = await eventually(
    () => listed('invoices', key),
    ({ body }) => body.data.length === 2,
  )
  t.ok(invoices.body.data.some(({ id }) => id === open))
  t.strictSame(await idsIn('subscriptions', key), [subscription])
  const shown = await eventually(
    () => listed('payments', key),
    ({ body }) => body.data.length === 1,
  )
  t.match(shown.body.data, [{ status: 'succeeded', amount: 2_500 }])
  t.match(payment.slice(3), shown.body.data[0]!.id.slice(4))
  const one = await service.get(`${portal}/invoices/${open}`, { key })
  for (const item of [...invoices.body.data, ...shown.body.data, one.body])
    for (const name of ['metadata', 'fee', 'net', 'can_refund']) t.notOk(name in item, name)
  const hidden = await service.get(`${portal}/invoices/${String(draft.body['id'])}`, { key })
  t.equal(hidden.status, 404, 'a draft')
  t.strictSame(await idsIn('invoices?status=draft', key), [])
  t.strictSame((await idsIn('invoices?status=open', key)).length, 2)
})

t.test('another customer’s ids are not there, in any row that names one', async (t) => {
  const [invoice, subscription] = [
    await invoiceFor(service, stranger),
    await subscribe(service, { customerId: stranger }),
  ]
  const naming = rows.filter(({ operation }) => operation.includes('{'))
  await lawOver(t, naming, async (route) => {
    const id = route.operation.includes('/invoices/') ? invoice : subscription
    const { method, path } = partsOf(route)
    const { body } = unknownSample(route)
    const answer = await service.call(method, path.replace('{id}', id), body, { key: token })
    t.match(answer, { status: 404, body: { code: 'IKW-RES-001' } }, route.operation)
  })
  const { body } = await service.get(`/api/v1/billing/subscriptions/${subscription}`)
  t.equal(body['cancel_at_period_end'], false)
  t.equal((await listed(`invoices?starting_after=${invoice}`)).status, 400, 'as a place in a list')
})

t.test('two customers with one idempotency key are two requests', async (t) => {
  const customers = [await createCustomer(service), await createCustomer(service)]
  const headers = { 'idempotency-key': randomUUID() }
  const answers = customers.map(async (customerId) => {
    const { token: key } = await openPortal(service, { customerId })
    const id = await invoiceFor(service, customerId)
    return service.post(`${portal}/invoices/${id}/pay`, {}, { key, headers })
  })
  t.match(await Promise.all(answers), [{ status: 200 }, { status: 200 }])
})

t.test('a customer pays an invoice on its page, ten times at once with one try', async (t) => {
  const id = await invoiceFor(service, customer)
  const pay = () => service.post(`${portal}/invoices/${id}/pay`, { source: 'checkout' }, { key: token })
  const answers = await Promise.all(Array.from({ length: 10 }, pay))
  t.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1)
  t.match(answers[0], { status: 200, body: { paid: false, payment_intent: /^pi_/, invoice: { id } } })
  const abroad = await service.post(`${portal}/invoices/${id}/pay`, { country: 'FR' }, { key: token })
  t.match(abroad, { status: 400, body: { code: 'IKW-TRANSFER-001', param: '/country' } })
  t.equal((await pay()).body['payment_intent'], answers[0]!.body['payment_intent'], 'which ends no try')
  const url = new URL(String(answers[0]!.body['checkout_url']))
  const page = await service.get(`/invoice/${url.pathname.split('/').at(-1)}`, { key: '' })
  t.match(page, { status: 200, body: { amount_left: 7500 } })
  await service.call('PATCH', `/api/v1/merchant/invoices/${id}/status`, { status: 'paid' })
  t.match(await pay(), { status: 409, body: { code: 'IKW-BILLING-001' } })
})

t.test('a customer cancels a subscription at the end of its period, and no sooner', async (t) => {
  const id = await subscribe(service, { customerId: customer, billingPlanId: await createPlan(service) })
  const cancel = () =>
    service.post(`${portal}/subscriptions/${id}/cancel`, { reason: 'moved' }, { key: token })
  const scheduled = { status: 200, body: { status: 'active', cancel_at_period_end: true } }
  t.match(await cancel(), scheduled)
  t.match(await cancel(), scheduled, 'once more')
  await service.post(`/api/v1/billing/subscriptions/${id}/cancel`)
  t.match(await cancel(), { status: 409, body: { code: 'IKW-BILLING-002' } })
})

t.test('in a suspended merchant’s portal customers only look', async (t) => {
  const merchantId = randomUUID()
  const key = await otherMerchantsKey(service, merchantId)
  const order = { amount: 1_000, currency: 'XOF', transaction_country: 'CI', customer_email: 'a@example.com' }
  const { body: intent } = await service.post('/api/v1/payment-intents', order, { key })
  const customerId = String(intent['customer'])
  const bill = { customerId, currency: 'XOF', amountDue: 7500 }
  const { body: invoice } = await service.post('/api/v1/billing/invoices', bill, { key })
  const opened = await openPortal(service, { customerId }, key)
  const suspend = { type: 'SuspendMerchant', data: { reason: 'test' } } as const
  const envelope = { merchant: merchantId, livemode: false, actor: 'test', correlation: 'test' }
  await service.service.runtime.dependencies.executor.send(merchant, merchantId, suspend, envelope)
  t.equal((await listed('invoices', opened.token)).status, 200)
  const pay = await service.post(`${portal}/invoices/${String(invoice['id'])}/pay`, {}, { key: opened.token })
  t.match(pay, { status: 403, body: { code: 'IKW-MERCHANT-002' } })
})

t.test('a portal closes after an hour, however far the sandbox’s clock was moved', async (t) => {
  const { token: key } = await openPortal(service, { customerId: customer })
  await service.post('/api/test/clock', { advance_seconds: 86_400 })
  const status = async () => (await service.get(`${portal}/session`, { key })).status
  t.equal(await status(), 200)
  aheadMs = 59 * 60_000
  t.equal(await status(), 200)
  aheadMs = 60 * 60_000 + 1_000
  t.equal(await status(), 401)
})

testConservation(() => service)
