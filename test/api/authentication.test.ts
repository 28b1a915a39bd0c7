import { randomUUID } from 'node:crypto'
import t from 'tap'
import { apiKey } from '../../packages/domain/api-keys/api-key.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { startApi } from '../../services/api/main.ts'
import { idOfKey, issueKey, otherMerchantsKey } from '../support/credentials.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

interface Problem {
  readonly code: string
}

const balance = (key: string) => service.get<Problem>('/api/v1/balance', { key })
const codeOf = (key: string) => async () => (await balance(key)).body.code
const reason = { reason: 'test' }

function envelope(merchantId: string) {
  return { merchant: merchantId, livemode: false, actor: 'test', correlation: randomUUID() }
}

t.test('a key that is in use opens nothing from when it is revoked', async (t) => {
  const key = await issueKey(service, { scopes: ['*'] })
  const other = await issueKey(service, { scopes: ['*'] })
  for (const one of [key, other, key]) t.equal((await balance(one)).status, 200)
  const { executor } = service.service.runtime.dependencies
  const mine = envelope(service.service.credentials.merchant_id)
  await executor.send(apiKey, idOfKey(key), { type: 'RevokeApiKey', data: reason }, mine)
  await eventually(codeOf(key), (code) => code === 'IKW-AUTH-002')
  t.equal((await balance(other)).status, 200, 'the others go on')
})

t.test('whoever shows a good key is served before passwords are looked at', async (t) => {
  const { passwords } = service.service.runtime.dependencies
  let served = 0
  t.intercept(passwords, 'shareProcessors', { value: () => served++ })
  await balance('ik_test_nobody')
  await service.get('/docs', { key: '' })
  t.equal(served, 0, 'a stranger takes nothing from those who sign in')
  await balance(service.sandboxKey)
  t.equal(served, 1)
})

t.test('a key that is in use opens nothing from when it expires', async (t) => {
  const expiresAt = new Date(Date.now() + 2_000).toISOString()
  const key = await issueKey(service, { scopes: ['*'], expiresAt })
  t.equal((await balance(key)).status, 200)
  await eventually(codeOf(key), (code) => code === 'IKW-AUTH-002')
})

t.test('keys that are in use only look from when their merchant is suspended', async (t) => {
  const merchantId = randomUUID()
  const key = await otherMerchantsKey(service, merchantId)
  t.equal((await balance(key)).status, 200)
  const { executor } = service.service.runtime.dependencies
  const command = { type: 'SuspendMerchant', data: reason } as const
  await executor.send(merchant, merchantId, command, envelope(merchantId))
  const intent = { amount: 500, currency: 'XOF', transaction_country: 'SN' }
  const create = () => service.post<Problem>('/api/v1/payment-intents', intent, { key })
  await eventually(create, ({ body }) => body.code === 'IKW-MERCHANT-002')
  t.equal((await balance(key)).status, 200, 'what was done can be seen')
})

t.test('a key opens nothing from elsewhere than its addresses', async (t) => {
  const near = await issueKey(service, { scopes: ['*'], addresses: ['10.0.0.0/8', '127.0.0.1'] })
  const far = await issueKey(service, { scopes: ['*'], addresses: ['10.0.0.0/8'] })
  for (const _ of [1, 2]) {
    t.equal((await balance(near)).status, 200)
    t.match(await balance(far), { status: 403, body: { code: 'IKW-AUTHZ-005' } })
  }
})

t.test('what is no key stays none, and becomes one when it is issued', async (t) => {
  for (const key of ['', 'nonsense', `ik_test_${'x'.repeat(43)}`, service.sandboxKey.slice(0, -1)]) {
    for (const _ of [1, 2]) t.match(await balance(key), { status: 401, body: { code: 'IKW-AUTH-001' } }, key)
  }
})

t.test('the scheme may be written in any case, the key may not', async (t) => {
  const status = async (authorization: string) =>
    (await service.get('/api/v1/balance', { key: '', headers: { authorization } })).status
  t.equal(await status(`bearer ${service.sandboxKey}`), 200)
  t.equal(await status(`Bearer ${service.sandboxKey.toUpperCase()}`), 401)
  t.equal(await status(`Basic ${service.sandboxKey}`), 401)
})

t.test('behind proxies that are trusted, a caller is whom the last of them has seen', async (t) => {
  const { runtime } = service.service
  const trustedProxies = ['127.0.0.0/8', '10.1.0.0/16']
  const configuration = { ...runtime.configuration, port: 0, trustedProxies }
  const behind = await startApi({ runtime: { ...runtime, configuration } })
  t.teardown(() => behind.close())
  const key = await issueKey(service, { scopes: ['*'], addresses: ['203.0.113.7'] })
  const statusOf = async (url: string, forwarded?: string) => {
    const headers = { authorization: `Bearer ${key}`, ...(forwarded && { 'x-forwarded-for': forwarded }) }
    return (await fetch(`${url}/api/v1/balance`, { headers })).status
  }
  const url = `http://127.0.0.1:${behind.port}`
  t.equal(await statusOf(url, '203.0.113.7'), 200)
  t.equal(await statusOf(url, '198.51.100.1, 203.0.113.7, 10.1.2.3'), 200, 'proxies in front of proxies')
  t.equal(
    await statusOf(url, '203.0.113.7, 198.51.100.1'),
    403,
    'what a caller writes itself stands further left',
  )
  t.equal(await statusOf(url, '203.0.113.7, nonsense'), 403)
  t.equal(await statusOf(url), 403)
  t.equal(await statusOf(service.url, '203.0.113.7'), 403, 'nobody is trusted unless it is said')
})
