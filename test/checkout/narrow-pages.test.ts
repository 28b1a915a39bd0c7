import t from 'tap'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { createCustomer, createPlan, subscribe } from '../support/commerce/billing.ts'
import { openSession } from '../support/commerce/checkout.ts'
import { topUp } from '../support/commerce/wallets.ts'
import { lawOver } from '../support/law.ts'
import { picture, scrollsSideways, visitor } from '../support/pages/browser.ts'
import { brokenAmounts } from '../support/pages/page-laws.ts'
import { startPublicService } from '../support/processes/public-service.ts'
import type { TestService } from '../support/service.ts'
import { openPortal } from '../support/subscriber.ts'

let service: TestService

t.before(async () => {
  service = await startPublicService(t)
})

const sum = { amount: 1_234_567, currency: 'XOF' }

async function billed(name: string) {
  const customer = await createCustomer(service, `${name}@example.com`)
  await topUp(service, { customer, amount: 1_234_567 })
  const plan = await createPlan(service, { recurringAmount: 1_234_567 })
  await subscribe(service, { customerId: customer, billingPlanId: plan })
  const order = { ...sum, customer, description: 'Réparation d’une lampe solaire' }
  const { body } = await service.post('/api/v1/merchant/invoices', order)
  const portal = await openPortal(service, { customerId: customer })
  return { id: String(body['id']), invoice: String(body['hosted_invoice_url']), portal }
}

async function paidInvoice(): Promise<string> {
  const { id, invoice } = await billed('awa')
  await service.call('PATCH', `/api/v1/merchant/invoices/${id}/status`, { status: 'paid' })
  return invoice
}

const openings: Readonly<Record<string, () => Promise<string>>> = {
  checkout: async () => (await openSession(service, { ...sum, country: 'SN' })).url,
  'open-amount': async () => {
    const order = { currency: 'XOF', country: 'SN', feeMode: 'customer_pays' }
    return String((await service.post('/api/v1/payment_links', order)).body['url'])
  },
  invoice: async () => (await billed('binta')).invoice,
  'paid-invoice': paidInvoice,
  portal: async () => (await billed('coumba')).portal.url,
  topup: async () => {
    const { token } = (await billed('dior')).portal
    const order = { ...sum, country: 'SN' }
    const { body } = await service.post('/api/v1/customer-portal/wallet/topups', order, { key: token })
    return String(body['checkout_url'])
  },
}

/** A phone of 360 px at 200 % zoom, and the smallest phone with letters twice as large. */
const guises = { zoomed: [180, '100%'], large: [320, '200%'], usual: [360, '100%'] } as const

t.test('an amount is broken only between its groups of digits, however narrow the page is', async (t) => {
  await lawOver(t, Object.entries(openings), async ([name, open]) => {
    const page = await visitor(t, { language: 'fr' })
    await page.goto(await open())
    const amount = page.locator('#amount')
    if (name === 'open-amount') await amount.fill('1234567')
    for (const [guise, [width, fontSize]] of Object.entries(guises)) {
      await page.setViewportSize({ width, height: 740 })
      await page.locator('html').evaluate((html, size) => {
        ;(html as unknown as { style: { fontSize: string } }).style.fontSize = size
      }, fontSize)
      await picture(page, `narrow-${name}-${guise}`)
      t.strictSame(await brokenAmounts(page), [], `${name}, ${guise}`)
      t.notOk(await scrollsSideways(page), `${name}, ${guise}`)
    }
  })
})

testConservation(() => service)
