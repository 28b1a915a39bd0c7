import { randomUUID } from 'node:crypto'
import t from 'tap'
import { credentialsOf } from '../../packages/contract/access/callers.ts'
import { perform, type AnyRoute } from '../../packages/contract/routes.ts'
import { record, Type } from '../../packages/contract/vocabulary.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { startApi } from '../../services/api/main.ts'
import { requestsPerSecond } from '../../services/api/http/rate-limit.ts'
import { routes } from '../../services/families.ts'
import { byPhone, openSession, waiting } from '../support/commerce/checkout.ts'
import { issueKey, otherMerchantsKey } from '../support/credentials.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import {
  clientOf,
  startService,
  type Answer,
  type CallOptions,
  type TestService,
} from '../support/service.ts'
import { customersToken } from '../support/subscriber.ts'

let service: TestService

t.before(async () => {
  service = await startService(t, { RATE_LIMIT: 'on', TRUSTED_PROXIES: '127.0.0.0/8' })
})

const balance = '/api/v1/balance'
const operation = `/operations/status/op_${'0'.repeat(32)}`

/** A caller as proxies show it. */
const from = (address: string, options: CallOptions = {}): CallOptions => {
  return { ...options, headers: { 'x-forwarded-for': address } }
}

/** Asks many times at once, again and again, until one is refused for its rate. */
async function untilRefused<Body>(ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
  const burst = async () => Promise.all(Array.from({ length: 60 }, ask))
  const answers = await eventually(burst, (all) => all.some(({ status }) => status === 429))
  return answers.find(({ status }) => status === 429)!
}

const wrongKey = () => `ik_test_${randomUUID().replaceAll('-', '')}`

t.test('a key that asks too fast is refused, told when to come back, and holds up no other', async (t) => {
  const [fast, slow] = [
    await issueKey(service, { scopes: ['*'] }),
    await issueKey(service, { scopes: ['*'] }),
  ]
  const refused = await untilRefused(() => service.get(balance, { key: fast }))
  t.match(refused.body, { code: 'IKW-RATE-001', retryable: true })
  t.ok(Number(refused.headers.get('retry-after')) >= 1)
  t.match(refused.headers.get('ratelimit'), 'r=0')
  t.equal((await service.get(balance, { key: slow })).status, 200)
})

t.test('whoever tries keys that open nothing is refused by address', async (t) => {
  const [guesser, other] = ['203.0.113.1', '203.0.113.2']
  const key = await issueKey(service, { scopes: ['*'] })
  t.equal((await service.get(balance, from(guesser, { key }))).status, 200)
  const guess = () => service.get(balance, from(guesser, { key: wrongKey() }))
  t.match((await untilRefused(guess)).body, { code: 'IKW-RATE-001' })
  t.equal((await service.get(balance, from(guesser, { key }))).status, 200, 'a key that is known goes on')
  t.equal((await service.get(balance, from(other, { key: wrongKey() }))).status, 401)
})

t.test('strangers are limited by address, and one network of IPv6 is one address', async (t) => {
  const paths = [
    operation,
    '/log/checkpoint',
    `/sandbox/pay/op_${'0'.repeat(32)}`,
    `/checkout/session/cs_${'0'.repeat(32)}/receipt.pdf`,
    '/pay/1/qr.svg',
    `/assets/logo-${'0'.repeat(64)}.png`,
    '/invoice/1/invoice.pdf',
    '/invoice/1/receipt.pdf',
    `/portal/1/topups/wt_${'0'.repeat(32)}/receipt.pdf`,
  ]
  const perSecond = { ...requestsPerSecond, address: 20 }
  const { port, close } = await startApi({ runtime: service.service.runtime, perSecond })
  t.teardown(close)
  const pages = clientOf({ ...service.service, port })
  await lawOver(t, paths, async (path) => {
    let host = 0
    const network = `2001:db8:${paths.indexOf(path)}`
    const ask = () => pages.get(path, from(`${network}:1::${(host++).toString(16)}`, { key: '' }))
    t.equal((await untilRefused(ask)).status, 429, path)
    const { status } = await pages.get(path, from(`${network}:2::1`, { key: '' }))
    t.not(status, 429, `${path} for its neighbour`)
  })
})

t.test('strangers at many addresses are limited by the account that they act for', async (t) => {
  const accounts = [randomUUID(), randomUUID()]
  const row = perform('GET /test/pages/{account}', {
    summary: 'Test',
    scope: 'public',
    params: { account: 'text' },
    returns: record({ id: Type.String() }),
    actsFor: async ({ params }) => ({ merchant: params['account']!, livemode: false }),
    action: async ({ id }) => ({ id }),
  })
  const table = [row] as unknown as readonly AnyRoute[]
  const { runtime } = service.service
  t.ok(requestsPerSecond.account > 2 * requestsPerSecond.address, 'nobody keeps all others out')
  const perSecond = { ...requestsPerSecond, account: 20 }
  const { port, close } = await startApi({ runtime, table, perSecond })
  t.teardown(close)
  const pages = clientOf({ ...service.service, port })
  let host = 0
  const ask = (account?: string) => () =>
    pages.get(`/test/pages/${account}`, from(`10.0.${host >> 8}.${host++ & 255}`, { key: '' }))
  t.equal((await ask(accounts[0])()).status, 200)
  t.match((await untilRefused(ask(accounts[0]))).body, { code: 'IKW-RATE-001' })
  t.equal((await ask(accounts[1])()).status, 200)
})

t.test(
  'strangers open and pay less often than they look, and their refusal is answered unseen',
  async (t) => {
    const { id, url } = await openSession(service)
    const { body: link } = await service.post('/api/v1/payment_links', { amount: 5_000 })
    const address = '198.51.100.7'
    const from = { 'x-forwarded-for': address, accept: 'text/html', 'accept-language': 'en' }
    const refused = await untilRefused(() =>
      service.get(`/pay/${String(link['slug'])}`, { key: '', headers: from }),
    )
    t.match(refused.body, /Too many tries/)
    t.equal((await service.get(new URL(url).pathname, { key: '', headers: from })).status, 200, 'it may look')
    const paying = await untilRefused(() =>
      service.post(`/api/checkout/${id}/pay`, {}, { key: '', headers: from }),
    )
    t.match(paying.status, 429)
    const press = () =>
      service.call<string>('POST', `/checkout/session/${id}/pay`, 'PaymentMethod=card', {
        key: '',
        headers: { ...from, 'content-type': 'application/x-www-form-urlencoded' },
      })
    const page = await untilRefused(press)
    t.match(page.body, /Too many tries/)
    t.notMatch(page.body, /<form/, 'nothing was read for it')
    t.match(page.body, `href="/checkout/session/${id}?lang=en"`)
  },
)

t.test('one telephone is asked to pay ten times in ten minutes, by whomever', async (t) => {
  const key = service.liveKey
  const mobile_money = { ...waiting, msisdn: '+2250709080706' }
  const statuses: number[] = []
  for (let nth = 0; nth < 11; nth++) {
    const order = { amount: 5_000, currency: 'XOF', country: 'CI' }
    const { body } = await service.post('/api/v1/checkout/sessions', order, { key })
    const headers = { 'x-forwarded-for': `198.51.100.${10 + nth}` }
    const path = `/api/checkout/${String(body['id'])}/pay`
    statuses.push((await service.post(path, byPhone(mobile_money), { key: '', headers })).status)
  }
  t.strictSame(statuses, [...Array.from({ length: 10 }, () => 200), 429])
  const token = await customersToken(service, key)
  const topup = { amount: 5_000, currency: 'XOF', ...mobile_money }
  const asked = await service.post('/api/v1/customer-portal/wallet/topups', topup, { key: token })
  t.equal(asked.status, 429, 'also from a portal')
  const bill = { amount: 5_000, currency: 'XOF' }
  const { body: invoice } = await service.post('/api/v1/merchant/invoices', bill, { key })
  const page = new URL(String(invoice['hosted_invoice_url'])).pathname
  const form = 'PaymentMethod=mobile_money&Operator=orange_money&PhoneNumber=07+09+08+07+06'
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
  const pressed = await service.call('POST', `${page}/pay`, form, { key: '', headers })
  t.equal(pressed.status, 429, 'also on the page of an invoice')
})

t.test('whoever is no merchant and names a telephone that is asked to pay says which', async (t) => {
  const strangers = routes.filter((route) => {
    return credentialsOf(route).some((kind) => kind === 'nobody' || kind === 'customer_portal')
  })
  const asking = strangers.filter(({ body }) => /"(msisdn|PhoneNumber)":/.test(JSON.stringify(body ?? {})))
  await lawOver(t, asking, ({ operation, prompts }) => t.ok(prompts, operation))
})

t.test('a suspended merchant is limited too, and may look at what is there', async (t) => {
  const merchantId = randomUUID()
  const key = await otherMerchantsKey(service, merchantId)
  const envelope = { merchant: merchantId, livemode: false, actor: 'test', correlation: randomUUID() }
  const command = { type: 'SuspendMerchant', data: { reason: 'test' } } as const
  await service.service.runtime.dependencies.executor.send(merchant, merchantId, command, envelope)
  const pay = () => service.post('/api/v1/payment-intents', {}, { key })
  await eventually(pay, ({ body }) => body['code'] === 'IKW-MERCHANT-002')
  t.equal((await service.call('HEAD', balance, undefined, { key })).status, 200)
  t.match((await untilRefused(pay)).body, { code: 'IKW-RATE-001' })
})
