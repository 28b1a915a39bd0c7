import { randomUUID } from 'node:crypto'
import t from 'tap'
import { perform, type AnyRoute } from '../../packages/contract/routes.ts'
import { record, Type } from '../../packages/contract/vocabulary.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { startApi } from '../../services/api/main.ts'
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
async function untilRefused(ask: () => Promise<Answer>): Promise<Answer> {
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
  const paths = [operation, '/log/checkpoint', `/sandbox/pay/op_${'0'.repeat(32)}`]
  await lawOver(t, paths, async (path) => {
    let host = 0
    const network = `2001:db8:${paths.indexOf(path)}`
    const ask = () => service.get(path, from(`${network}:1::${(host++).toString(16)}`, { key: '' }))
    t.equal((await untilRefused(ask)).status, 429, path)
    const { status } = await service.get(path, from(`${network}:2::1`, { key: '' }))
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
  const { port, close } = await startApi({ runtime: service.service.runtime, table })
  t.teardown(close)
  const pages = clientOf({ ...service.service, port })
  let host = 0
  const ask = (account?: string) => () =>
    pages.get(`/test/pages/${account}`, from(`10.0.${host >> 8}.${host++ & 255}`, { key: '' }))
  t.equal((await ask(accounts[0])()).status, 200)
  t.match((await untilRefused(ask(accounts[0]))).body, { code: 'IKW-RATE-001' })
  t.equal((await ask(accounts[1])()).status, 200)
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
