import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import type { RailState } from '../../packages/kernel/ports/rails.ts'
import { ikw, jsonOf, settingsOf, type Row, type Run } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { ScriptedRail } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'
import { signIn } from '../support/identities/sign-in.ts'
import { linkToken } from '../support/identities/users.ts'

/** Orange answers as the test says; the command line has the simulated operators. */
const operator = new ScriptedRail()
let service: TestService

t.before(async () => {
  const orange = { environments: ['sandbox'], operators: ['orange_money'], rail: operator } as const
  service = await startService(t, {}, { rails: [orange] })
})

const destination = { type: 'mobile_money', country: 'SN', operator: 'orange_money', msisdn: '+221770000000' }

function run(by: string, ...parameters: readonly string[]): Promise<Run> {
  return ikw(settingsOf(service), ...parameters, '--by', by, '--reason', 'Confirmed by mail')
}

async function pay(amount: number): Promise<string> {
  const { body } = await service.post('/api/v1/payouts', { amount, currency: 'XOF', destination })
  const id = String(body['id'])
  await operator.submitted(({ reference }) => reference === identity(id, 'po'))
  return id
}

async function status(id: string): Promise<unknown> {
  return (await service.get(`/api/v1/payouts/${id}`)).body['status']
}

async function actors(id: string): Promise<readonly string[]> {
  const stream = `payout-${identity(id, 'po')!}`
  const events = await service.service.runtime.dependencies.store.readStream(stream, 0)
  return events.map(({ type, metadata }) => `${type} ${metadata.actor}`)
}

t.test('support settles and fails payouts with a name and a reason', async (t) => {
  const [paid, failed] = [await pay(5_000), await pay(5_000)]
  t.match(await run('awa', 'payouts', 'settle', paid), { code: 0, stdout: /done/ })
  t.match(await run('awa', 'payouts', 'fail', failed), { code: 0 })
  t.strictSame([await status(paid), await status(failed)], ['paid', 'failed'])
  t.ok((await actors(paid)).includes('PayoutPaid cli:awa'))
  t.match(await run('awa', 'payouts', 'cancel', paid), { code: 2, stderr: /cannot be canceled/ })
  t.match(await run('awa', 'payouts', 'reverse', paid), { code: 0 })
  t.equal(await status(paid), 'failed')
})

t.test('a payment that is booked, and was never made, is taken back', async (t) => {
  const asked = { amount: 20_000, currency: 'XOF', transaction_country: 'SN' }
  const intent = String((await service.post('/api/v1/payment-intents', asked)).body['id'])
  const payment_method = {
    type: 'mobile_money',
    mobile_money: { operator: 'wave', msisdn: '+221770000042', country: 'SN' },
  }
  await service.post(`/api/v1/payment-intents/${intent}/confirm`, { payment_method })
  await service.post('/api/test/mobile-money/callback', { payment_intent_id: intent, status: 'succeeded' })
  const shown = () => service.get(`/api/v1/payment-intents/${intent}`)
  await eventually(shown, ({ body }) => body['status'] === 'succeeded')
  t.match(await run('awa', 'payments', 'fail', intent), { code: 0, stdout: /done/ })
  await eventually(shown, ({ body }) => body['status'] === 'failed')
  const stream = `payment_intent-${identity(intent, 'pi')!}`
  const events = await service.service.runtime.dependencies.store.readStream(stream, 0)
  t.match(
    events.find(({ type }) => type === 'PaymentIntentResultContradicted'),
    { data: { word: 'failed', remedy: 'take_back' } },
  )
})

t.test('a large payout takes two names', async (t) => {
  const id = await pay(500_000)
  t.match(await run('awa', 'payouts', 'fail', id), { code: 0, stdout: /second name/ })
  t.equal(await status(id), 'in_transit')
  t.match(await run('awa', 'payouts', 'fail', id), { code: 2, stderr: /another name/ })
  t.equal(await status(id), 'in_transit')
  t.match(await run('ibra', 'payouts', 'fail', id), { code: 0, stdout: /done/ })
  t.equal(await status(id), 'failed')
})

t.test('a payout is sent again only when the operator has never received it', async (t) => {
  const id = await pay(5_000)
  // The operators that the command line asks have not got it: this one has.
  const again = await run('awa', 'payouts', 'resend', id)
  t.equal(again.code, 0)
  const twice = await run('awa', 'payouts', 'resend', id)
  t.match(twice, { code: 2, stderr: /The operator has it/ })
  const paid: RailState = { state: 'succeeded' }
  await operator.say(identity(id, 'po')!, paid)
})

t.test('an entry is reversed once', async (t) => {
  const balance = async () => {
    const { body } = await service.get<{ available: { amount: number }[] }>('/api/v1/balance')
    return body.available[0]!.amount
  }
  await service.post('/api/test/balance/topup', { amount: 1_000, currency: 'XOF' })
  const path = '/api/v1/balance-transactions'
  const { body } = await eventually(
    () => service.get<{ data: { id: string; type: string; amount: number }[] }>(path),
    (answer) => answer.body.data.some(({ type, amount }) => type === 'topup' && amount < 1_000_000),
  )
  const topUp = body.data.find(({ type, amount }) => type === 'topup' && amount < 1_000_000)!
  const before = await balance()
  for (let tries = 0; tries < 2; tries++) {
    t.match(await run('awa', 'ledger', 'reverse', topUp.id), { code: 0 })
    t.equal(await balance(), before - topUp.amount)
  }
})

t.test('a suspended merchant may look, and change nothing, until it is activated', async (t) => {
  const { merchant_id } = service.service.credentials
  const order = { amount: 5_000, currency: 'XOF', transaction_country: 'SN' }
  const write = () => service.post('/api/v1/payment-intents', order)
  t.match(await run('ibra', 'merchants', 'suspend', merchant_id), { code: 0 })
  await eventually(write, ({ status }) => status === 403)
  t.match(await write(), { status: 403, body: { code: 'IKW-MERCHANT-002' } })
  t.equal((await service.get('/api/v1/balance')).status, 200)
  t.match(await run('ibra', 'merchants', 'activate', merchant_id), { code: 0 })
  await eventually(write, ({ status }) => status === 201)
})

t.test('a merchant is created with an owner, who chooses a password by mail', async (t) => {
  const terms = [
    '--name',
    'Binta SARL',
    '--country',
    'CI',
    '--currency',
    'XOF',
    '--email',
    'shop@example.com',
  ]
  const create = () => run('ibra', 'merchants', 'create', ...terms, '--owner', 'binta@example.com', '--json')
  const [first, second] = [jsonOf<Row>(await create()), jsonOf<Row>(await create())]
  t.equal(first['owner'], second['owner'], 'the second one is the same person’s')
  const link = await linkToken(service.service, String(first['owner']), 'reset_password')
  const body = { token: link, newPassword: 'encore quatre mots au hasard' }
  t.match(await service.post('/api/v1/auth/reset-password', body, { key: '' }), { status: 200 })
  const account = { email: 'binta@example.com', password: body.newPassword }
  const binta = await signIn(service, account)
  t.equal(binta.merchant, first['id'])
  const me = await service.get('/api/v1/auth/me', { key: binta.token })
  t.match(me.body, { role: 'owner', organization: { id: first['organization'], display_name: 'Binta SARL' } })
  const there = await service.post(
    '/api/v1/auth/switch-merchant',
    { merchantId: second['id'] },
    { key: binta.token },
  )
  t.match(there, { status: 200, body: { role: 'owner', merchant: { id: second['id'] } } })
  t.match(await run('ibra', 'merchants', 'create', ...terms.slice(0, -1), 'nowhere'), { code: 2 })
})

t.test('a merchant is created, and gets keys', async (t) => {
  const terms = ['--name', 'Awa SARL', '--country', 'SN', '--currency', 'XOF', '--email', 'awa@example.com']
  const { id } = jsonOf<Row>(await run('ibra', 'merchants', 'create', ...terms, '--json'))
  const [name, email] = [terms.slice(0, 2), terms.slice(-2)]
  for (const [country, currency, says] of [
    ['FR', 'EUR', /--country FR is none of .*SN/],
    ['SN', 'GNF', /--currency GNF is none of XOF/],
  ] as const) {
    const elsewhere = ['--country', country, '--currency', currency]
    t.match(await run('ibra', 'merchants', 'create', ...name, ...elsewhere, ...email), {
      code: 2,
      stderr: says,
    })
  }
  const rights = ['--scopes', 'balance.read', '--environment', 'sandbox', '--merchant', String(id), '--json']
  const { key } = jsonOf<Row>(await ikw(settingsOf(service), 'keys', 'create', '--name', 'First', ...rights))
  t.equal((await service.get('/api/v1/balance', { key: String(key) })).status, 200)
})
