import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { pictures } from '../../packages/domain/branding/examples.ts'
import { createCustomer, createPlan, subscribe } from '../support/billing.ts'
import { accessibilityFaults, picture, scrollsSideways, visitor, type Visitor } from '../support/browser.ts'
import { answerPayment } from '../support/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { invoiceFor, paymentOf } from '../support/portal.ts'
import { startPublicService } from '../support/public-service.ts'
import type { TestService } from '../support/service.ts'
import { topUp } from '../support/wallets.ts'
import { openPortal, type Portal } from '../support/subscriber.ts'

let service: TestService
let aheadMs = 0

t.before(async () => {
  service = await startPublicService(t, {}, { clock: () => new Date(Date.now() + aheadMs) })
  const settings = '/api/v1/merchant/settings/branding'
  await service.call('PATCH', settings, { accent_color: '#7a1fa2' })
  await service.call('PUT', `${settings}/logo`, { contentBase64: pictures.blue })
})

/** How the page looks is kept; nothing is hard to use, and nothing is cut off. */
async function look(t: Test, page: Page, name: string): Promise<void> {
  await picture(page, name)
  t.strictSame(await accessibilityFaults(page), [], name)
  t.notOk(await scrollsSideways(page), name)
}

interface Household extends Portal {
  readonly customer: string
  readonly invoice: string
  readonly subscription: string
}

/** A customer with a little of everything. */
async function household(permissions?: readonly string[]): Promise<Household> {
  const customer = await createCustomer(service, `awa.${randomUUID().slice(0, 8)}@example.com`)
  await paymentOf(service, customer)
  const merchants = {
    customer,
    amount: 12_500,
    currency: 'XOF',
    description: 'Réparation d’une lampe solaire',
  }
  const { body } = await service.post('/api/v1/merchant/invoices', merchants)
  await invoiceFor(service, customer)
  await topUp(service, { customer, amount: 3_000 })
  const plan = await createPlan(service, { name: 'Kit solaire <grand>' })
  const subscription = await subscribe(service, { customerId: customer, billingPlanId: plan })
  const asked = {
    customerId: customer,
    returnUrl: 'https://shop.example/account',
    ...(permissions && { permissions }),
  }
  const portal = await openPortal(service, asked)
  await eventually(
    () => service.get<{ due: unknown[]; payments: unknown[] }>(new URL(portal.url).pathname, { key: '' }),
    ({ body: { due, payments } }) => permissions !== undefined || (due.length === 3 && payments.length > 0),
  )
  return { ...portal, customer, invoice: String(body['id']), subscription }
}

interface Way extends Visitor {
  readonly name: string
  readonly title: RegExp
  readonly pay: RegExp
  readonly paid: string
  readonly settled: string
  readonly cancel: string
  readonly cancelNow: string
  readonly ends: RegExp
  readonly wallet: string
}

const french = {
  language: 'fr',
  title: /^Votre compte chez /,
  pay: /^Payer 12\s500\sF\sCFA/,
  paid: 'Payé, merci',
  wallet: 'Portefeuille',
  settled: 'Factures payées',
  cancel: 'Résilier…',
  cancelNow: 'Résilier l’abonnement',
  ends: /Se termine le \d+ .*, sans renouvellement/,
}
const english = {
  language: 'en',
  title: /^Your account with /,
  pay: /^Pay 12,500\sF\sCFA/,
  paid: 'Paid, thank you',
  wallet: 'Wallet',
  settled: 'Paid invoices',
  cancel: 'Cancel…',
  cancelNow: 'Cancel the subscription',
  ends: /Ends on \d+ .*, and is not renewed/,
}

const ways: readonly Way[] = [
  { ...french, name: 'phone-fr', device: 'phone' },
  { ...english, name: 'desktop-en-dark', device: 'desktop', dark: true },
  { ...french, name: 'phone-fr-no-script', device: 'phone', javaScript: false },
]

for (const way of ways) {
  t.test(`a customer pays an invoice and cancels a subscription: ${way.name}`, async (t) => {
    const { url, invoice } = await household()
    const page = await visitor(t, way)
    const judged = (name: string) => {
      const file = `portal-${way.name}-${name}`
      return way.javaScript === false ? picture(page, file) : look(t, page, file)
    }
    await page.goto(url)
    await page.getByRole('heading', { name: way.title }).waitFor()
    await page.getByRole('heading', { name: way.wallet }).waitFor()
    await judged('page')
    await page.getByText(way.cancel, { exact: true }).click()
    await judged('cancel')
    await page.getByRole('button', { name: way.cancelNow }).click()
    await page.getByText(way.ends).waitFor()
    t.equal(await page.getByText(way.cancel, { exact: true }).count(), 0)
    await page.getByRole('link', { name: way.pay }).click()
    await page.getByLabel('Orange Money').check()
    await judged('invoice')
    await page.locator('#number').fill('77 000 00 42')
    await page.getByRole('button', { name: way.pay }).first().click()
    const intent = await eventually(
      async () => (await service.get(`/api/v1/billing/invoices/${invoice}`)).body['payment_intent'],
      (known) => known !== null,
    )
    await answerPayment(service, intent)
    await eventually(
      () => page.goto(page.url()).then(() => page.getByRole('heading', { name: way.paid }).count()),
      (count) => count === 1,
    )
    await judged('paid')
    await page.goto(url)
    await page.getByRole('heading', { name: way.settled }).waitFor()
    await judged('after')
  })
}

t.test('a page shows what it was opened for, in both languages, and says when it is over', async (t) => {
  const { url } = await household(['payments'])
  const page = await visitor(t)
  await page.goto(url)
  t.strictSame(await page.getByRole('heading', { level: 2 }).allTextContents(), ['Payments'])
  await page.getByRole('link', { name: 'Français' }).click()
  await page.getByRole('heading', { name: 'Paiements' }).waitFor()
  aheadMs = 61 * 60_000
  await page.goto(url)
  await page.getByRole('heading', { name: 'This page has expired' }).waitFor()
  await look(t, page, 'portal-over')
  aheadMs = 0
  await page.goto(url.slice(0, -1))
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
})

t.test('a page is small, asks nobody else, and lets nothing in', async (t) => {
  const { url } = await household()
  const page = await visitor(t)
  const sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
    t.equal(new URL(request.url()).origin, new URL(url).origin)
  })
  const answer = await page.goto(url, { waitUntil: 'networkidle' })
  t.match(answer!.headers()['content-security-policy'], "default-src 'none'")
  t.equal(answer!.headers()['referrer-policy'], 'no-referrer')
  const isSeen = (image: unknown) => (image as { readonly naturalWidth: number }).naturalWidth === 64
  t.ok(await page.locator('img.logo').evaluate(isSeen), 'the logo is shown')
  const total = (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0)
  t.ok(total < 60_000, `${total} bytes with everything`)
})

t.test(
  'from the page of one customer nobody cancels what is another’s, or what is not allowed',
  async (t) => {
    const [one, other, limited] = [await household(), await household(), await household(['invoices'])]
    const press = async (portal: Portal, subscription: string) => {
      const path = `${new URL(portal.url).pathname}/subscriptions/${subscription}/cancel`
      const headers = { accept: 'text/html' }
      return (await fetch(service.url + path, { method: 'POST', headers, redirect: 'manual' })).status
    }
    t.equal(await press(one, other.subscription), 404)
    t.equal(await press(limited, limited.subscription), 403)
    const { body } = await service.get(`/api/v1/billing/subscriptions/${other.subscription}`)
    t.equal(body['cancel_at_period_end'], false)
    t.strictSame(await Promise.all([press(one, one.subscription), press(one, one.subscription)]), [303, 303])
  },
)
