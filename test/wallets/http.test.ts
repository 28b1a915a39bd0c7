import { randomUUID } from 'node:crypto'
import t from 'tap'
import { tableOf } from '../../infra/postgres/read-models/tables.ts'
import { walletBalances } from '../../projections/wallets.ts'
import { createCustomer, passDays } from '../support/commerce/billing.ts'
import { answerPayment } from '../support/commerce/checkout.ts'
import { otherMerchantsKey } from '../support/credentials.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { eventually } from '../support/eventually.ts'
import { ownLocks } from '../support/postgres.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'
import { askForTopup, card, topUp } from '../support/commerce/wallets.ts'

const merchantPath = '/api/v1/merchant/invoices'

let service: TestService
let customer: string

t.before(async () => {
  service = await startService(t)
})

t.beforeEach(async () => {
  customer = await createCustomer(service)
})

type Shown = Readonly<Record<string, unknown>>

const shown = async (id: string) => (await service.get(`${merchantPath}/${id}`)).body
const balance = async () => (await service.get(`/api/v1/merchant/customers/${customer}`)).body['balance']
const open = async (amount = 5_000, of: string | null = customer) =>
  String((await service.post(merchantPath, { amount, currency: 'XOF', customer: of })).body['id'])

function apply(invoice: string, body: object = {}, options: object = {}) {
  return service.post(`/api/v1/merchant/billing/wallet/invoices/${invoice}/apply`, body, options)
}

async function available(): Promise<number> {
  const { body } = await service.get<{ available: { amount: number }[] }>('/api/v1/balance')
  return body.available[0]?.amount ?? 0
}

async function told(type: string, id: unknown): Promise<Shown> {
  const { body } = await eventually(
    () => service.get<{ data: { type: string; data: Shown }[] }>(`/api/v1/events?types[]=${type}&limit=100`),
    (answer) => answer.body.data.some(({ data }) => data['id'] === id),
  )
  return body.data.find(({ data }) => data['id'] === id)!.data
}

t.test("a wallet pays an invoice, and the fee is taken when the money becomes the merchant's", async (t) => {
  const before = await available()
  await topUp(service, { customer, amount: 8_000 })
  t.equal(await balance(), 8_000)
  t.equal(await available(), before, "it is not the merchant's yet")
  const invoice = await open()
  const applied = await apply(invoice, { description: 'January' })
  t.match(applied, {
    status: 200,
    body: {
      object: 'wallet_application',
      id: /^wa_/,
      invoice,
      customer,
      currency: 'XOF',
      applied_amount: 5_000,
      remaining_balance: 3_000,
      invoice_paid: true,
      description: 'January',
    },
  })
  t.match(await shown(invoice), { status: 'paid', amount_paid: 5_000 }, 'the next request sees it')
  t.equal(await balance(), 3_000)
  t.equal(await available(), before + 4_950)
  t.strictSame(await told('wallet.applied', applied.body['id']), { ...applied.body, currency: 'xof' })
  const { body } = await service.get<{ data: Shown[] }>('/api/v1/balance-transactions?limit=1')
  t.match(body.data[0], {
    type: 'wallet_payment',
    amount: 5_000,
    fee: 50,
    net: 4_950,
    source: applied.body['id'],
  })
})

t.test('a customer shows what is in the wallet, however far its read model is', async (t) => {
  await topUp(service, { customer, amount: 8_000 })
  const invoice = await open()
  t.equal(await balance(), 8_000)
  const { pool } = service.service.runtime.postgres
  const table = tableOf(walletBalances, 1).name
  const holder = await pool.connect()
  t.teardown(() => holder.release(true))
  await holder.query(`begin; lock table ${table} in exclusive mode`)
  await apply(invoice)
  const waiting = `select from ${ownLocks} where relation = to_regclass('${table}') and not granted`
  await eventually(
    async () => (await pool.query(waiting)).rowCount,
    (count) => count === 1,
  )
  const { reads } = service.service.runtime.dependencies
  const reached = reads.reached.bind(reads)
  const waits = t.capture(reads, 'reached', reached)
  const answered = balance()
  const isWaiting = eventually(
    async () => waits.args().some(([, , name]) => name === walletBalances.name),
    Boolean,
  )
  await Promise.race([answered, isWaiting])
  await holder.query('rollback')
  t.equal(await answered, 3_000)
})

t.test('what is applied is cut to what is due, what is asked for and what the wallet has', async (t) => {
  await topUp(service, { customer, amount: 3_000 })
  const invoice = await open()
  t.match((await apply(invoice, { amount: 1_000 })).body, {
    applied_amount: 1_000,
    remaining_balance: 2_000,
    invoice_paid: false,
  })
  t.match(await shown(invoice), { status: 'open', amount_paid: 1_000 })
  t.match((await apply(invoice, { amount: 9_000 })).body, { applied_amount: 2_000, remaining_balance: 0 })
  t.match(await apply(invoice), { status: 402, body: { code: 'IKW-BILLING-006' } })
  await topUp(service, { customer, amount: 5_000 })
  t.match((await apply(invoice)).body, {
    applied_amount: 2_000,
    invoice_paid: true,
    remaining_balance: 3_000,
  })
  t.match(await apply(invoice), { status: 409, body: { code: 'IKW-BILLING-001' } })
  t.match(await shown(invoice), { status: 'paid', amount_paid: 5_000 })
})

t.test('ten at once, with one key or with ten, take no more than is due or there', async (t) => {
  await topUp(service, { customer, amount: 6_000 })
  const keyed = await open()
  const headers = { 'idempotency-key': randomUUID() }
  const same = await Promise.all(
    Array.from({ length: 10 }, () => apply(keyed, { amount: 1_000 }, { headers })),
  )
  await lawOver(t, same, ({ status, body }) => t.ok(status === 200 || status === 409, JSON.stringify(body)))
  t.match(await apply(keyed, { amount: 1_000 }, { headers }), { status: 200 })
  t.equal((await shown(keyed))['amount_paid'], 1_000)
  const many = await Promise.all(Array.from({ length: 4 }, () => open(2_000)))
  const answers = await Promise.all(many.flatMap((invoice) => [apply(invoice), apply(invoice)]))
  await lawOver(t, answers, ({ status, body }) =>
    t.ok([200, 402, 409].includes(status), JSON.stringify(body)),
  )
  const paid = await Promise.all(many.map(async (invoice) => Number((await shown(invoice))['amount_paid'])))
  const sum = paid.reduce((total, amount) => total + amount, 0)
  t.equal(Number(await balance()), 5_000 - sum)
  t.ok(sum <= 5_000)
})

t.test('whoever is about to pay otherwise is not overtaken, and what nobody pays gives way', async (t) => {
  await topUp(service, { customer, amount: 10_000 })
  const paying = await open()
  const mobileMoney = { country: 'CI', operator: 'orange_money', msisdn: '+2250700000042' }
  const method = { paymentMethod: { type: 'mobile_money', mobileMoney } }
  await service.post(`/api/v1/billing/invoices/${paying}/confirm`, method)
  t.match(await apply(paying), { status: 409, body: { code: 'IKW-BILLING-001' } })
  const waiting = await open()
  const { body } = await service.post<{ payment_intent: Shown }>(
    `/api/v1/billing/invoices/${waiting}/pay`,
    {},
  )
  t.match(await apply(waiting), { status: 200, body: { invoice_paid: true } })
  const intent = await service.get(`/api/v1/payment-intents/${String(body.payment_intent['id'])}`)
  t.equal(intent.body['status'], 'canceled')
  t.equal(await balance(), 5_000)
})

t.test("a wallet pays for its own customer, and is nobody else's", async (t) => {
  await topUp(service, { customer, amount: 5_000 })
  const [own, other] = [await open(), await createCustomer(service)]
  t.match(await apply(own, { customer_id: other }), { status: 400, body: { param: '/customer_id' } })
  const nobodys = await open(1_000, null)
  t.match(await apply(nobodys), { status: 400, body: { code: 'IKW-BILLING-003', param: '/customer_id' } })
  t.match(await apply(nobodys, { customer_id: customer }), { status: 200, body: { customer } })
  const key = await otherMerchantsKey(service)
  t.equal((await apply(own, {}, { key })).status, 404)
  t.match(await service.get(`/api/v1/merchant/customers/${other}`), { body: { balance: 0 } })
})

t.test('what failed, or was refunded from the wallet, is not there', async (t) => {
  const failed = await askForTopup(service, { customer, amount: 4_000 })
  await answerPayment(service, failed.intent, 'failed')
  const intent = await topUp(service, { customer, amount: 4_000 })
  t.equal(await balance(), 4_000)
  const refund = (amount: number) =>
    service.post(`/api/v1/merchant/payments/${intent.replace('pi_', 'pay_')}/refund`, { amount })
  t.equal((await refund(1_000)).status, 201)
  await eventually(balance, (now) => now === 3_000)
  await apply(await open(2_500))
  t.match(await refund(1_000), { status: 402, body: { code: 'IKW-TRANSFER-005' } }, 'it was spent')
  t.equal(await balance(), 500)
})

// The clock goes on from here.

t.test('what was paid by card is spent after two days, and refunded at any time', async (t) => {
  await topUp(service, { customer, amount: 1_000 })
  const intent = await topUp(service, { customer, amount: 5_000, method: card })
  const invoice = await open()
  t.match(await apply(invoice), { status: 200, body: { applied_amount: 1_000, remaining_balance: 5_000 } })
  t.match(await apply(invoice), { status: 402, body: { code: 'IKW-BILLING-006' } })
  const payment = intent.replace('pi_', 'pay_')
  t.equal((await service.post(`/api/v1/merchant/payments/${payment}/refund`, { amount: 2_000 })).status, 201)
  await passDays(service, 3)
  t.match(await apply(invoice), { status: 200, body: { applied_amount: 3_000, remaining_balance: 0 } })
})

testConservation(() => service)
