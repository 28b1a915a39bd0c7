import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { identity, publicId } from '../../packages/contract/identity.ts'
import { pictures } from '../../packages/domain/branding/examples.ts'
import {
  accessibilityFaults,
  picture,
  scrollsSideways,
  showsByNow,
  visitor,
} from '../support/pages/browser.ts'
import { answerPayment } from '../support/commerce/checkout.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { eventually } from '../support/eventually.ts'
import { english, french, portalCustomer, type Way } from '../support/pages/portal-customer.ts'
import { startPublicService } from '../support/processes/public-service.ts'
import type { TestService } from '../support/service.ts'
import type { Portal } from '../support/subscriber.ts'
import { topUp } from '../support/commerce/wallets.ts'

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

const ways: readonly Way[] = [
  { ...french, name: 'phone-fr', device: 'phone' },
  { ...english, name: 'desktop-en-dark', device: 'desktop', dark: true },
  { ...french, name: 'phone-fr-no-script', device: 'phone', javaScript: false },
]

for (const way of ways) {
  t.test(`a customer pays an invoice and cancels a subscription: ${way.name}`, async (t) => {
    const { url, invoice } = await portalCustomer(service)
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
    const shown = (name: string) =>
      eventually(() => showsByNow(page, page.getByRole('heading', { name })), Boolean)
    await shown(way.paid)
    await judged('paid')
    await page.goto(url)
    await shown(way.settled)
    await judged('after')
  })
}

for (const way of ways) {
  t.test(`a customer puts money into the wallet: ${way.name}`, async (t) => {
    const { url, customer } = await portalCustomer(service)
    const page = await visitor(t, way)
    const judged = (name: string) => {
      const file = `topup-${way.name}-${name}`
      return way.javaScript === false ? picture(page, file) : look(t, page, file)
    }
    await page.goto(url)
    await page.getByText(way.topup).click()
    await page.locator('#amount').fill('nothing')
    await page.getByRole('button', { name: way.goOn }).click()
    await page.getByText(way.noAmount).waitFor()
    await judged('refused')
    await page.locator('#amount').fill('4 000')
    await page.getByRole('button', { name: way.goOn }).click()
    await page.getByLabel('Orange Money').check()
    await page.getByText(way.cardLater).waitFor()
    await judged('page')
    await page.locator('#number').fill('77 000 00 42')
    await page.getByRole('button', { name: way.put }).click()
    await page.getByRole('heading', { name: way.prompt }).waitFor()
    await judged('prompt')
    const { pathname } = new URL(page.url())
    const { rows } = await service.service.runtime.postgres.pool.query<{ id: string; actor: string }>(
      `select data->>'paymentIntent' as id, metadata->>'actor' as actor from events
       where type = 'WalletTopupRequested' order by position desc limit 1`,
    )
    const [{ id, actor }] = rows as [{ id: string; actor: string }]
    t.match(actor, /^portal:/, 'the customer has asked for it')
    await answerPayment(service, publicId('pi', id))
    await eventually(
      () => showsByNow(page, page.getByRole('heading', { name: way.paid })),
      (isShown) => isShown,
    )
    await judged('paid')
    t.match(await service.get(pathname, { key: '' }), {
      status: 200,
      body: { object: 'hosted_topup', status: 'succeeded', payment_status: 'paid', amount: 4_000 },
    })
    await page.getByRole('heading', { name: way.receipt, exact: true }).waitFor()
    await page.getByText('Orange Money').waitFor()
    const address = await page.getByRole('link', { name: 'PDF' }).getAttribute('href')
    const paper = async () => {
      const answer = await fetch(service.url + address!)
      return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()).toString('latin1') }
    }
    const printed = await paper()
    t.equal(printed.status, 200)
    t.match(printed.bytes, /^%PDF-/)
    t.equal((await paper()).bytes, printed.bytes)
    const { body } = await eventually(
      () => service.get(`/api/v1/merchant/customers/${customer}`),
      (shown) => Number(shown.body['balance']) === 7_000,
    )
    t.equal(body['balance'], 7_000)
  })
}

/** Two who may do everything, and one who may only see invoices. */
async function threeCustomers() {
  const own = await portalCustomer(service)
  const other = await portalCustomer(service)
  return [own, other, await portalCustomer(service, ['invoices'])] as const
}

t.test('what was declined can be put in again, and paid once', async (t) => {
  const { url } = await portalCustomer(service)
  const page = await visitor(t, ways[1]!)
  await page.goto(url)
  await page.getByText(english.topup).click()
  await page.locator('#amount').fill('4000')
  await page.getByRole('button', { name: english.goOn }).click()
  const first = new URL(page.url()).pathname
  const press = () => {
    const form = { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '770000042' }
    return fetch(`${service.url}${first}/pay`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { accept: 'text/html' },
      redirect: 'manual',
    })
  }
  const pressed = await Promise.all(Array.from({ length: 5 }, press))
  t.strictSame([...new Set(pressed.map(({ status }) => status))], [303])
  const { body } = await service.get<{ id: string }>(first, { key: '' })
  const topup = identity(body.id, 'wt')
  const { rows } = await service.service.runtime.postgres.pool.query<{ id: string }>(
    `select data->>'paymentIntent' as id from events where stream = 'wallet_topup-${topup}' and revision = 0`,
  )
  await answerPayment(service, publicId('pi', rows[0]!.id), 'failed')
  await page.goto(service.url + first)
  await look(t, page, 'topup-failed')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: english.put }).waitFor()
  t.not(new URL(page.url()).pathname, first, 'another top-up')
})

t.test('a top-up is there for its customer only, while the portal is open', async (t) => {
  const [one, other, limited] = await threeCustomers()
  const order = { amount: 900, currency: 'XOF', country: 'SN' }
  const asked = await service.post('/api/v1/customer-portal/wallet/topups', order, { key: one.token })
  const { pathname } = new URL(String(asked.body['checkout_url']))
  const at = async (path: string) => (await service.get(path, { key: '' })).status
  t.equal(await at(pathname), 200)
  t.equal(await at(`${pathname}/status`), 200)
  t.equal(await at(pathname.replace(one.token, other.token)), 404)
  t.equal(await at(pathname.replace(one.token, limited.token)), 403)
  aheadMs = 61 * 60_000
  t.equal(await at(pathname), 401)
  aheadMs = 0
})

t.test('a page shows what it was opened for, in both languages, and says when it is over', async (t) => {
  const { url } = await portalCustomer(service, ['payments'])
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

t.test('what is in the wallet is spent on the page, once, and only by whoever may', async (t) => {
  const [own, other, limited] = await threeCustomers()
  const press = async (portal: Portal, invoice: string, AtMost = '3000', Left?: string) => {
    const path = `${new URL(portal.url).pathname}/invoices/${invoice}/wallet`
    const headers = { accept: 'text/html' }
    const body = new URLSearchParams({ AtMost, ...(Left && { Left }) })
    return (await fetch(service.url + path, { method: 'POST', headers, body, redirect: 'manual' })).status
  }
  t.equal(await press(own, other.invoice), 404)
  t.equal(await press(limited, limited.invoice), 403)
  const page = await visitor(t)
  await page.goto(own.url)
  const button = page.getByRole('button', { name: /^Pay 3,000\sF\sCFA from the wallet/ })
  await look(t, page, 'portal-wallet')
  await button.first().click()
  await page.getByText(/^0\sF\sCFA$/).waitFor()
  t.equal(await button.count(), 0)
  const standing = async (invoice: string) =>
    (await service.get<{ amount_paid: number }>(`/api/v1/billing/invoices/${invoice}`)).body.amount_paid
  t.equal(await press(own, own.invoice), 402, 'an empty wallet pays nothing')
  t.equal(await press(other, other.invoice, '0'), 400)
  t.equal(await press(other, other.invoice, '1000', '12500'), 303)
  t.equal(await press(other, other.invoice, '1000', '12500'), 303, 'the same button a second time')
  t.equal(await standing(other.invoice), 1_000, 'never more than the button says')
  const pressed = await Promise.all([press(other, other.invoice), press(other, other.invoice)])
  t.strictSame(pressed, [303, 303], 'whoever comes second sees what is paid')
  t.equal(await standing(other.invoice), 3_000)
})

t.test('the wallet button, pressed again and again, pays once', async (t) => {
  const { url, invoice, customer } = await portalCustomer(service)
  await topUp(service, { customer, amount: 30_000 })
  const press = () =>
    fetch(`${service.url}${new URL(url).pathname}/invoices/${invoice}/wallet`, {
      method: 'POST',
      headers: { accept: 'text/html' },
      body: new URLSearchParams({ AtMost: '12500' }),
      redirect: 'manual',
    })
  const page = await visitor(t)
  await page.goto(url)
  const name = /^Pay 12,500\sF\sCFA from the wallet/
  const [, ...early] = await Promise.all([page.getByRole('button', { name }).dblclick(), press(), press()])
  const standing = async () => (await service.get(`/api/v1/billing/invoices/${invoice}`)).body
  await eventually(standing, ({ status }) => status === 'paid')
  const late = await Promise.all([press(), press()])
  t.ok([...early, ...late].every(({ status }) => status === 303))
  t.equal((await standing())['amount_paid'], 12_500)
  const { body } = await eventually(
    () => service.get(`/api/v1/merchant/customers/${customer}`),
    (shown) => Number(shown.body['balance']) === 20_500,
  )
  t.equal(body['balance'], 20_500, 'of 33 000')
  // Where the button was pressed, an answer to it may arrive at any time, and would interrupt.
  const elsewhere = await page.context().newPage()
  await elsewhere.goto(url)
  t.equal(await elsewhere.getByRole('button', { name }).count(), 0)
})

t.test('a page shows the logo of its merchant', async (t) => {
  const page = await visitor(t)
  await page.goto((await portalCustomer(service)).url)
  const isSeen = (image: unknown) => (image as { readonly naturalWidth: number }).naturalWidth === 64
  t.ok(await page.locator('img.logo').evaluate(isSeen))
})

t.test(
  'from the page of one customer nobody cancels what is another’s, or what is not allowed',
  async (t) => {
    const [one, other, limited] = await threeCustomers()
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
    const history = `/api/v1/billing/subscriptions/${one.subscription}/history`
    const done = await service.get<{ data: { type: string; actor: string }[] }>(history)
    const scheduled = done.body.data.find(({ type }) => type === 'SubscriptionCancelScheduled')
    t.equal(scheduled?.actor, `portal:${identity(one.id, 'ps')}`, 'the customer has done it')
  },
)

testConservation(() => service)
