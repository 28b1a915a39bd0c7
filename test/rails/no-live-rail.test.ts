import t from 'tap'
import { derivedId, publicId } from '../../packages/contract/identity.ts'
import {
  paymentIntent,
  type PaymentIntentCommands,
} from '../../packages/domain/payment-intents/payment-intent.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { orange } from '../support/payments/payments.ts'
import { startService, type TestService } from '../support/service.ts'

/** As it is started for everybody but tests: no setting connects live keys with the simulated operators. */
let service: TestService

t.before(async () => {
  service = await startService(t, {}, { simulatesLive: false })
})

const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000001' }
const bank = { type: 'bank', bank_code: 'SN010', account_number: '0800000001', account_name: 'Awa' }

const operations: Readonly<Record<string, readonly [path: string, body: object]>> = {
  'a payment intent': [
    '/api/v1/payment-intents',
    { amount: 5_000, currency: 'XOF', transaction_country: 'SN' },
  ],
  'a payout to a wallet': ['/api/v1/payouts', { amount: 5_000, currency: 'XOF', destination }],
  'a payout to a bank': ['/api/v1/payouts', { amount: 5_000, currency: 'XOF', destination: bank }],
  'a payout of the merchant': ['/api/v1/merchant/payouts', { amount: 5_000, currency: 'XOF', destination }],
}

t.test('without a live rail nothing live is begun, and the refusal says so', async (t) => {
  for (const [name, [path, body]] of Object.entries(operations)) {
    const headers = { 'idempotency-key': name.replaceAll(' ', '-') }
    const refused = await service.post(path, body, { key: service.liveKey, headers })
    t.match(refused, { status: 503, body: { code: 'IKW-TRANSFER-010', retryable: false } }, `live: ${name}`)
  }
  const { body } = await service.get('/api/v1/balance', { key: service.liveKey })
  t.match(body, { available: [], pending: [], reserved: [] }, 'and nothing is held')
})

t.test('an intent from when there was a rail is not confirmed, and nothing is sent anywhere', async (t) => {
  const { executor, newId, store } = service.service.runtime.dependencies
  const { merchant_id: merchant } = service.service.credentials
  const id = newId()
  const envelope = { merchant, livemode: true, actor: 'test', correlation: id }
  const nothing = { payerCountry: null, railCountry: null, description: null, customer: null, metadata: {} }
  const data = { amount: 5_000, currency: 'XOF', transactionCountry: 'SN', ...nothing }
  await executor.send(paymentIntent, id, { type: 'CreateIntent', data }, envelope)
  const path = `/api/v1/payment-intents/${publicId('pi', id)}/confirm`
  const refused = await service.post(path, orange(), { key: service.liveKey })
  t.match(refused, { status: 503, body: { code: 'IKW-TRANSFER-010', retryable: false } })
  t.equal((await store.readStream(`payment_intent-${id}`, 0)).length, 1, 'nothing was written down')
})

t.test('a payment from when there was a rail is not refunded, and nothing of it is set aside', async (t) => {
  const { executor, newId, reads, store } = service.service.runtime.dependencies
  const { merchant_id: merchant } = service.service.credentials
  const id = newId()
  const envelope = { merchant, livemode: true, actor: 'test', correlation: id }
  const send = (command: Message<PaymentIntentCommands>) =>
    executor.send(paymentIntent, id, command, envelope)
  const nothing = { payerCountry: null, railCountry: null, description: null, customer: null, metadata: {} }
  const data = { amount: 5_000, currency: 'XOF', transactionCountry: 'SN', ...nothing }
  await send({ type: 'CreateIntent', data })
  const method = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000001' } as const
  const pages = { preferredFlow: null, returnUrl: null, statusPages: service.url }
  await send({ type: 'ConfirmIntent', data: { method, ...pages } })
  const operationId = derivedId(id, 'confirmation 1')
  await send({ type: 'CompletePayment', data: { operationId } })
  await reads.reached(await store.head(), 10_000)
  const path = `/api/v1/merchant/payments/${publicId('pay', id)}`
  const refusal = { status: 503, body: { code: 'IKW-TRANSFER-010', retryable: false } }
  const before = await store.readStream(`payment_intent-${id}`, 0)
  for (const asked of [{}, { amount: 1_000 }]) {
    const headers = { 'idempotency-key': newId() }
    t.match(await service.post(`${path}/refund`, asked, { key: service.liveKey, headers }), refusal)
  }
  t.strictSame(await store.readStream(`payment_intent-${id}`, 0), before)
  t.match(await service.get(path, { key: service.liveKey }), { status: 200, body: { can_refund: true } })
})

t.test('sandbox works', async (t) => {
  for (const [name, [path, body]] of Object.entries(operations)) {
    const headers = { 'idempotency-key': name.replaceAll(' ', '-') }
    t.equal((await service.post(path, body, { headers })).status, 201, `sandbox: ${name}`)
  }
})

t.test('the service is ready, and says what it lacks to those who run it', async (t) => {
  const { status, body } = await service.health('/readyz')
  t.match({ status, body }, { status: 200, body: { live: /no live provider is configured/ } })
})
