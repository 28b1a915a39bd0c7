import t from 'tap'
import { dayText } from '../../services/api/pages/invoice.ts'
import type { Language } from '../../services/api/pages/words.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { createCustomer, createPlan, made, subscribe } from '../support/commerce/billing.ts'
import { startService, type TestService } from '../support/service.ts'
import { openPortal } from '../support/subscriber.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** What a customer is shown. */
async function portalOf(customerId: string) {
  const { pathname } = new URL((await openPortal(service, { customerId })).url)
  const headers = (language: string) => ({ accept: 'text/html', 'accept-language': language })
  return async (language: Language = 'en') => {
    const { body } = await service.get<string>(pathname, { key: '', headers: headers(language) })
    return body
  }
}

const noonIn = (days: number) =>
  `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T12:00:00Z`

t.test('a subscription that waits to begin says when it begins, and whether it goes on then', async (t) => {
  const customerId = await createCustomer(service)
  const [currentPeriodStart, currentPeriodEnd] = [noonIn(40), noonIn(70)]
  const id = await subscribe(service, { customerId, currentPeriodStart, currentPeriodEnd })
  const page = await portalOf(customerId)
  const days = (language: Language) => [
    dayText(currentPeriodStart, language),
    dayText(currentPeriodEnd, language),
  ]
  const [[first, last], [premier, dernier]] = [days('en'), days('fr')]
  t.match(await page(), `Begins on ${first}<`)
  t.match(await page('fr'), `Commence le ${premier}<`)
  t.notMatch(await page(), 'Free until')
  await service.post(`/api/v1/billing/subscriptions/${id}/cancel`, { atPeriodEnd: true })
  t.match(await page(), `Begins on ${first}, ends on ${last}, and is not renewed`)
  t.match(await page('fr'), `Commence le ${premier}, se termine le ${dernier}, sans renouvellement`)
})

t.test('a trial is free until its end', async (t) => {
  const customerId = await createCustomer(service)
  const items = [{ price: await createPlan(service) }]
  const order = { customer: customerId, items, trial_period_days: 5 }
  await made(service, '/api/v1/merchant/subscriptions', order)
  t.match(await (await portalOf(customerId))(), /Free until \d+ \w+ \d{4}</)
})

t.test('what nobody pays in the merchant’s country is paid from where somebody does', async (t) => {
  const customer = await createCustomer(service)
  const order = { customer, currency: 'CDF', amount: 1_000_000 }
  const { body } = await service.post('/api/v1/merchant/invoices', order)
  const { pathname } = new URL(String(body['hosted_invoice_url']))
  const invoice = await service.get(pathname, { key: '' })
  t.match(invoice.body, { country: 'CD', countries: ['CD'], payment_methods: [{ type: 'mobile_money' }] })
  const page = await (await portalOf(customer))()
  t.match(page, new RegExp(`class="button"\\s+href="${pathname}`))
  t.notMatch(page, 'cannot be paid')
})

testConservation(() => service)
