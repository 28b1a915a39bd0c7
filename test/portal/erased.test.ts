import t from 'tap'
import { rebuildModels } from '../../services/cli/projections.ts'
import { erase } from '../../services/privacy/erase.ts'
import { personOf } from '../../services/privacy/person.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { createCustomer, createPlan } from '../support/commerce/billing.ts'
import { invoiceFor } from '../support/commerce/portal.ts'
import { topUp } from '../support/commerce/wallets.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'
import { openPortal } from '../support/subscriber.ts'

const sessions = '/api/v1/customer-portal/sessions'
const intents = '/api/v1/payment-intents'
const portal = '/api/v1/customer-portal'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** What is left, and what stands against it. */
async function erased(customerId: string) {
  const { runtime } = service.service
  const person = (await personOf(runtime.dependencies.store, customerId))!
  const rebuild = (models: Parameters<typeof rebuildModels>[1]) => rebuildModels(runtime, models)
  const erasing = { person, by: 'test', reason: 'Asked for it', rebuild }
  return erase(runtime, erasing).catch((error: unknown) => error)
}

t.test('who is erased has nothing in the wallet, has no portal any more, and is sold nothing', async (t) => {
  const customerId = await createCustomer(service)
  const mobile_money = { country: 'CI', operator: 'orange_money', msisdn: '+2250700004711' }
  await topUp(service, {
    customer: customerId,
    amount: 2_500,
    method: { type: 'mobile_money', mobile_money },
  })
  const { token: key, url } = await openPortal(service, { customerId })
  const why = 'refund it, or pay invoices with it first'
  t.match(await erased(customerId), {
    matters: [`customer ${customerId} has 2,500 XOF in the wallet: ${why}`],
  })
  const invoice = await invoiceFor(service, customerId, { amountDue: 2_500 })
  const paid = await service.post(`${portal}/invoices/${invoice}/pay`, { source: 'wallet' }, { key })
  t.match(paid, { body: { paid: true } })
  t.match(await erased(customerId), { left: [] })
  const session = () => service.get(`${portal}/session`, { key })
  t.match(await eventually(session, ({ status }) => status !== 200), { status: 401 })
  t.equal((await service.get(new URL(url).pathname, { key: '' })).status, 404)
  t.equal((await service.post(sessions, { customerId })).status, 404)
  const [billing, billingPlanId] = ['/api/v1/billing', await createPlan(service)]
  for (const [kind, body] of Object.entries({
    subscriptions: { billingPlanId },
    invoices: { amountDue: 500 },
  }))
    t.match(await service.post(`${billing}/${kind}`, { customerId, ...body }), { status: 404 }, kind)
  const order = { amount: 1_000, currency: 'XOF', transaction_country: 'CI', customer: customerId }
  t.match(await service.post(intents, order), { status: 400, body: { param: '/customer' } })
})

t.test('whoever comes back with one contact of two is sold to again', async (t) => {
  const contacts = { customer_email: 'awa@example.com', customer_phone: '+2250700001111' }
  const order = { amount: 1_000, currency: 'XOF', transaction_country: 'CI' }
  const met = async (by: object) =>
    String((await service.post(intents, { ...order, ...by })).body['customer'])
  const id = await met(contacts)
  for (const [name, value] of Object.entries(contacts)) {
    t.match(await erased(id), { left: [] })
    t.equal(await met({ [name]: value }), id, name)
    const sold = await service.post('/api/v1/billing/invoices', {
      customerId: id,
      currency: 'XOF',
      amountDue: 500,
    })
    t.match(sold, { status: 201 }, name)
    await openPortal(service, { customerId: id })
  }
  t.equal(await met(contacts), id)
  const { body } = await service.get(`/api/v1/merchant/customers/${id}`)
  t.match(body, { email: contacts.customer_email, phone: contacts.customer_phone })
})

t.test('whoever comes back has a number that is nobody else’s', async (t) => {
  const order = { amount: 1_000, currency: 'XOF', transaction_country: 'CI' }
  const met = async (customer_email: string | null, customer_phone: string) => {
    const { body } = await service.post(intents, { ...order, customer_email, customer_phone })
    return String(body['customer'])
  }
  const [first, own, later] = ['+2250700004444', '+2250700005555', '+2250700006666']
  const [back, other] = [await met('coumba@example.com', first), await met('dior@example.com', own)]
  t.match(await erased(back), { left: [] })
  t.equal(await met('coumba@example.com', own), back)
  t.equal(await met(null, own), other)
  t.match(await erased(other), { left: [] })
  const shown = () => service.get(`/api/v1/merchant/customers/${back}`)
  t.match((await shown()).body, { email: 'coumba@example.com' }, 'erased with nobody else')
  t.match(await erased(back), { left: [] })
  t.equal(await met('coumba@example.com', later), back)
  t.equal(await met(null, later), back)
  t.match((await shown()).body, { email: 'coumba@example.com', phone: later })
})

t.test('what could still be issued to a customer, or paid in, is ended first', async (t) => {
  const customer = await createCustomer(service)
  const { token: key } = await openPortal(service, { customerId: customer })
  const page = { amount: 8_000, currency: 'XOF', country: 'CI' }
  const { body: topup } = await service.post(`${portal}/wallet/topups`, page, { key })
  const draft = { customer, amount: 900, currency: 'XOF', status: 'draft' }
  const { body: invoice } = await service.post('/api/v1/merchant/invoices', draft)
  const [intent, id] = [String(topup['payment_intent']), String(invoice['id'])]
  t.match(await erased(customer), {
    matters: [
      `payment intent ${intent} may fill the wallet: cancel it first`,
      `invoice ${id} is a draft: issue or void it first`,
    ],
  })
  t.equal((await service.post(`${intents}/${intent}/cancel`)).status, 200)
  const voided = { status: 'void' }
  t.equal((await service.call('PATCH', `/api/v1/merchant/invoices/${id}/status`, voided)).status, 200)
  t.match(await erased(customer), { left: [] })
})

testConservation(() => service)
