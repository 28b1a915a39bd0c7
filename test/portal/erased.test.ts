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
const portal = '/api/v1/customer-portal'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

t.test('who is erased has nothing in the wallet, has no portal any more, and is sold nothing', async (t) => {
  const customerId = await createCustomer(service)
  const mobile_money = { country: 'CI', operator: 'orange_money', msisdn: '+2250700004711' }
  await topUp(service, {
    customer: customerId,
    amount: 2_500,
    method: { type: 'mobile_money', mobile_money },
  })
  const { token: key, url } = await openPortal(service, { customerId })
  const { runtime } = service.service
  const person = (await personOf(runtime.dependencies.store, customerId))!
  const rebuild = (models: Parameters<typeof rebuildModels>[1]) => rebuildModels(runtime, models)
  const erasing = { person, by: 'test', reason: 'Asked for it', rebuild }
  const refused = await erase(runtime, erasing).catch((error: unknown) => error)
  const why = 'refund it, or pay invoices with it first'
  t.match(refused, { matters: [`customer ${customerId} has 2,500 XOF in the wallet: ${why}`] })
  const invoice = await invoiceFor(service, customerId, { amountDue: 2_500 })
  const paid = await service.post(`${portal}/invoices/${invoice}/pay`, { source: 'wallet' }, { key })
  t.match(paid, { body: { paid: true } })
  t.strictSame((await erase(runtime, erasing)).left, [])
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
})

testConservation(() => service)
