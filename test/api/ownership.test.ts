import { randomUUID } from 'node:crypto'
import t from 'tap'
import { identity, publicId } from '../../packages/contract/identity.ts'
import { keyedId, keyOf } from '../../services/api/kinds/idempotency.ts'
import { routes } from '../../services/families.ts'
import { startApi } from '../../services/api/main.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { issueKey } from '../support/credentials.ts'
import { orange } from '../support/payments/payments.ts'
import { clientOf, startService, type MerchantClient, type TestService } from '../support/service.ts'

const order = { amount: 5_000, currency: 'XOF', transaction_country: 'SN' }
const operation = 'POST /api/v1/payment-intents'

let first: TestService
let second: MerchantClient

t.before(async () => {
  first = await startService(t)
  // Another API process, as far as what is remembered goes: mailboxes and caches of its own.
  second = await anotherCopy(first)
})

async function anotherCopy({ service: { runtime, credentials } }: TestService): Promise<MerchantClient> {
  const { configuration } = runtime
  const copy = await openRuntime(configuration)
  const api = await startApi({ runtime: copy })
  t.teardown(async () => {
    await api.close()
    await copy.close()
  })
  return clientOf({ port: api.port, credentials })
}

t.test('an id that was asked for before it existed is still only its owner’s', async (t) => {
  const { merchant_id: merchant } = first.service.credentials
  const key = randomUUID()
  const id = keyedId({ merchant, livemode: true }, operation, key)
  const path = `/api/v1/payment-intents/${id}`
  t.match(await second.post(`${path}/confirm`, orange()), { status: 404 }, 'sandbox asks too early')
  const options = { key: first.liveKey, headers: { 'idempotency-key': key } }
  const created = await first.post('/api/v1/payment-intents', order, options)
  t.match(created, { status: 201, body: { id: publicId('pi', id) } }, 'live creates it elsewhere')
  t.match(await second.get(path), { status: 404 }, 'sandbox does not see it')
  t.match(await second.post(`${path}/cancel`), { status: 404 }, 'nor changes it')
  t.match(await second.get(path, { key: first.liveKey }), { status: 200, body: { livemode: true } })
})

t.test('what became of an idempotency key is told to those who may read what it made', async (t) => {
  const headers = { 'idempotency-key': randomUUID() }
  const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
  const wanted = { amount: 500, currency: 'XOF', destination }
  const { body: made } = await first.post('/api/v1/payouts', wanted, { headers })
  const path = `/api/v1/idempotency-keys/${headers['idempotency-key']}`
  const key = await issueKey(first, { scopes: ['payments.read'] })
  t.match(await first.get(path, { key }), { status: 404 })
  const both = await issueKey(first, { scopes: ['payments.read', 'payouts.read'] })
  t.match(await first.get(path, { key: both }), {
    status: 200,
    body: { uses: [{ resource_id: made['id'] }] },
  })
})

t.test(
  'a request that is resumed finds nothing that another owner’s with its key and body has done',
  async (t) => {
    const { answers, blindIndex } = first.service.runtime.dependencies
    const { merchant_id: merchant } = first.service.credentials
    const { body: intent } = await first.post('/api/v1/payment-intents', order)
    const path = `/api/v1/payment-intents/${String(intent['id'])}/cancel`
    const headers = { 'idempotency-key': randomUUID() }
    t.match(await first.post(path, undefined, { headers }), { status: 200 })
    // What is left of a try in live whose process has died.
    const owner = { merchant, livemode: true }
    const caller = { credential: 'api_key', scopes: ['*'], ...owner, actor: 'key:test' } as const
    const route = routes.find((one) => one.operation === 'POST /api/v1/payment-intents/{id}/cancel')!
    const params = { id: identity(String(intent['id']), 'pi')! }
    const asked = { header: headers['idempotency-key'], caller, owner, params, body: undefined }
    const keyed = (await keyOf(route, asked, blindIndex))!
    t.match(await answers.begin(keyed.answerKey, keyed.fingerprint), { state: 'begun' })
    await answers.release(keyed.answerKey)
    t.match(await first.post(path, undefined, { key: first.liveKey, headers }), { status: 404 })
  },
)
