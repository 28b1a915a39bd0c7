import t, { type Test } from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import type { RailState } from '../../packages/kernel/ports/rails.ts'
import { createCustomer, passDays, subscribe } from '../support/commerce/billing.ts'
import { waiting } from '../support/commerce/checkout.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { eventually } from '../support/eventually.ts'
import { ScriptedRail } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'
import { openPortal } from '../support/subscriber.ts'
import { askForTopup } from '../support/commerce/wallets.ts'

const provider = new ScriptedRail()
let service: TestService

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: provider }] })
})

const succeeded: RailState = { state: 'succeeded' }
const returned: RailState = { state: 'returned' }
const path = '/api/v1/billing/invoices'

type Shown = Readonly<Record<string, unknown>>

const shown = async (id: string) => (await service.get(`${path}/${id}`)).body
const becomes = (id: string, status: string) =>
  eventually(
    () => shown(id),
    (now) => now['status'] === status,
    20_000,
  )

/** Begins to pay; the provider's reference. */
async function pay(id: string): Promise<string> {
  const { country, operator, msisdn } = waiting
  const method = { type: 'mobile_money', mobileMoney: { country, operator, msisdn } }
  const { status, body } = await service.post<{ payment_intent: Shown }>(`${path}/${id}/confirm`, {
    paymentMethod: method,
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return identity(String(body.payment_intent['operation_id']), 'op')!
}

const paperless = async (path: string) => {
  const headers = { accept: 'text/html', 'accept-language': 'en' }
  return (await fetch(service.url + path, { headers })).text()
}
const failed: RailState = { state: 'failed', code: 'payment_timeout', message: 'no' }
/** Whoever approves too late has paid, and is not told otherwise. */
const tellsOfLateMoney = async (t: Test, path: string, operation: string) => {
  await provider.say(operation, failed)
  await eventually(
    () => paperless(path),
    (page) => page.includes('was not approved in time. Nothing was paid.'),
  )
  await provider.say(operation, succeeded)
  const page = await eventually(
    () => paperless(path),
    (now) => now.includes('Your approval came too late'),
  )
  t.notMatch(page, 'Nothing was paid')
  const status = `/operations/status/op_${operation.replaceAll('-', '')}`
  t.match(await paperless(status), 'Your approval came too late')
}

const available = async () =>
  (await service.get<{ available: { amount: number }[] }>('/api/v1/balance')).body.available[0]?.amount ?? 0

t.test(
  'what the operator takes back has not paid an invoice, which is open, told and due again',
  async (t) => {
    const before = await available()
    const subscription = await subscribe(service)
    const { body } = await eventually(
      () => service.get<{ data: Shown[] }>(`${path}?subscriptionId=${subscription}`),
      (answer) => answer.body.data[0]?.['number'] != null,
    )
    const id = String(body.data[0]!['id'])
    const operation = await pay(id)
    await provider.say(operation, succeeded)
    await becomes(id, 'paid')
    await eventually(available, (now) => now === before + 4_900)
    await provider.say(operation, returned)
    t.match(await becomes(id, 'open'), { amount_paid: 0, amount_due: 5_000 })
    t.equal(await available(), before)
    const page = await paperless(new URL(String((await shown(id))['hosted_invoice_url'])).pathname)
    t.match(page, 'Your operator or bank has taken this payment back.')
    t.notMatch(page, 'Nothing was paid')
    t.match(
      await paperless(`/operations/status/op_${operation.replaceAll('-', '')}`),
      'has taken this payment',
    )
    await eventually(
      () => service.get<{ data: { type: string; data: Shown }[] }>('/api/v1/events?limit=100'),
      (answer) =>
        answer.body.data.some(({ type, data }) => type === 'invoice.payment_failed' && data['id'] === id),
    )
    await passDays(service, 31)
    t.match(
      await eventually(
        () => shown(id),
        ({ overdue }) => overdue === true,
      ),
      { status: 'open' },
    )
    const standing = async () =>
      (await service.get(`/api/v1/billing/subscriptions/${subscription}`)).body['status']
    await eventually(standing, (status) => status === 'past_due')
    await provider.say(await pay(id), succeeded)
    t.match(await becomes(id, 'paid'), { amount_paid: 5_000 })
    await eventually(standing, (status) => status === 'active')
  },
)

t.test('what comes too late is said to be on its way back', async (t) => {
  const { body } = await service.post('/api/v1/merchant/invoices', { amount: 1_000, currency: 'XOF' })
  const { pathname } = new URL(String(body['hosted_invoice_url']))
  await tellsOfLateMoney(t, pathname, await pay(String(body['id'])))
  const { token } = await openPortal(service, { customerId: await createCustomer(service) })
  const order = { amount: 900, currency: 'XOF', country: 'SN' }
  const asked = await service.post('/api/v1/customer-portal/wallet/topups', order, { key: token })
  const { pathname: topup } = new URL(String(asked.body['checkout_url']))
  const form = { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '770000042' }
  const pressed = await service.post<{ payment: Shown }>(`${topup}/pay`, form, { key: '' })
  await tellsOfLateMoney(t, topup, identity(String(pressed.body.payment['operation_id']), 'op')!)
})

t.test('a top-up that is taken back leaves the wallet, and one that was spent is a case', async (t) => {
  const customer = await createCustomer(service)
  const balance = async () => (await service.get(`/api/v1/merchant/customers/${customer}`)).body['balance']
  const topUp = async () => {
    const { intent } = await askForTopup(service, { customer, amount: 2_000 })
    const { body } = await service.get(`/api/v1/payment-intents/${intent}`)
    const operation = identity(String(body['operation_id']), 'op')!
    await provider.say(operation, succeeded)
    await eventually(balance, (now) => now === 2_000)
    return operation
  }
  const first = await topUp()
  await provider.say(first, returned)
  await eventually(balance, (now) => now === 0, 20_000)
  const second = await topUp()
  const invoice = await service.post('/api/v1/merchant/invoices', {
    amount: 2_000,
    currency: 'XOF',
    customer,
  })
  const applied = await service.post(
    `/api/v1/merchant/billing/wallet/invoices/${String(invoice.body['id'])}/apply`,
    {},
  )
  t.match(applied, { status: 200, body: { remaining_balance: 0 } })
  await provider.say(second, returned)
  const { pool } = service.service.runtime.postgres
  const cases = await eventually(
    async () =>
      (await pool.query("select state from read.cases where state::text like '%payment_contradicted%'")).rows,
    (rows) => rows.length > 0,
    20_000,
  )
  t.equal(cases.length, 1)
  t.equal(await balance(), 0)
})

testConservation(() => service)
