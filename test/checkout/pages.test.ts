import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { testConservation } from '../support/commerce/billing-laws.ts'
import {
  accessibilityFaults,
  firstPaintMs,
  picture,
  scrollsSideways,
  visitor,
  type Visitor,
} from '../support/pages/browser.ts'
import { openSession } from '../support/commerce/checkout.ts'
import { startPublicService } from '../support/processes/public-service.ts'
import type { TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startPublicService(t)
})

const shop = { successUrl: 'https://shop.example/thanks', cancelUrl: 'https://shop.example/cart' }

/** How the page looks is kept; nothing is hard to use, and nothing is cut off. */
async function look(t: Test, page: Page, name: string): Promise<void> {
  await picture(page, name)
  t.strictSame(await accessibilityFaults(page), [], name)
  t.notOk(await scrollsSideways(page), name)
}

interface Way extends Visitor {
  readonly name: string
  readonly operator: string
  readonly pay: RegExp
  readonly prompt: string
  readonly play: string
  readonly approve: string
  readonly paid: RegExp
}

const french = {
  language: 'fr',
  operator: 'Orange Money',
  pay: /^Payer 5\s000\sF\sCFA$/,
  prompt: 'Confirmez sur votre téléphone',
  play: 'Jouer le payeur',
  approve: 'Approuver le paiement',
  paid: /^Payé, merci$/,
}
const english = {
  language: 'en',
  operator: 'Orange Money',
  pay: /^Pay 5,000\sF\sCFA$/,
  prompt: 'Confirm on your phone',
  play: 'Play the payer',
  approve: 'Approve the payment',
  paid: /^Paid, thank you$/,
}

const ways: readonly Way[] = [
  { ...french, name: 'phone-fr', device: 'phone' },
  { ...english, name: 'desktop-en-dark', device: 'desktop', dark: true },
  { ...french, name: 'phone-fr-no-script', device: 'phone', javaScript: false },
]

for (const way of ways) {
  t.test(`a payer pays on the page: ${way.name}`, async (t) => {
    const { url } = await openSession(service)
    const page = await visitor(t, way)
    const judged = (name: string) =>
      way.javaScript === false ? picture(page, `${way.name}-${name}`) : look(t, page, `${way.name}-${name}`)
    await page.goto(url)
    t.equal(await page.locator('html').getAttribute('lang'), way.language)
    await judged('form')
    await page.getByLabel(way.operator).check()
    await page.locator('#number').fill('07 00 00 00 42')
    await page.getByRole('button', { name: way.pay }).click()
    await page.getByRole('heading', { name: way.prompt }).waitFor()
    await judged('prompt')
    await page.getByRole('link', { name: way.play }).click()
    await page.getByRole('button', { name: way.approve }).waitFor()
    await judged('play')
    await page.getByRole('button', { name: way.approve }).click()
    await page.getByRole('heading', { name: way.paid }).waitFor()
    await judged('paid')
    t.match(await page.locator('dl').innerText(), /0042/)
  })
}

t.test('the page of a payer who waits goes on by itself when the operator answers', async (t) => {
  const { id, url } = await openSession(service)
  const page = await visitor(t)
  await page.goto(url)
  await payByPhone(page)
  await page.getByRole('heading', { name: 'Confirm on your phone' }).waitFor()
  const { body } = await service.get(`/api/v1/checkout/sessions/${id}`)
  const failed = {
    payment_intent_id: body['payment_intent'],
    status: 'failed',
    failure_reason: 'insufficient_funds',
  }
  await service.post('/api/test/mobile-money/callback', failed)
  await page.getByRole('alert').waitFor()
  t.match(
    await page.getByRole('alert').innerText(),
    /There is not enough money in your account\. Nothing was paid\./,
  )
  await look(t, page, 'phone-en-failed')
  t.equal(await page.locator('#number').inputValue(), '07 00 00 00 42', 'the browser remembers the number')
  t.ok(await page.getByLabel('Orange Money').isChecked(), 'and the operator')
})

async function payByPhone(page: Page): Promise<void> {
  await page.getByLabel('Orange Money').check()
  await page.locator('#number').fill('07 00 00 00 42')
  await page
    .getByRole('button', { name: /^Pay 5,000/ })
    .first()
    .click()
}

t.test('a number is checked as it is typed, and by the service where no script does', async (t) => {
  const { url } = await openSession(service)
  const page = await visitor(t)
  await page.goto(url)
  await page.getByLabel('Orange Money').check()
  await page.locator('#number').fill('07 00')
  await page
    .getByRole('button', { name: /^Pay 5,000/ })
    .first()
    .click()
  t.match(await page.locator('#number-fault').innerText(), /not complete/)
  await look(t, page, 'phone-en-wrong-number')
  const plain = await visitor(t, { javaScript: false })
  await plain.goto(url)
  await plain.getByLabel('Wave').check()
  await plain.locator('#number').fill('07 00')
  await plain
    .getByRole('button', { name: /^Pay 5,000/ })
    .first()
    .click()
  t.match(await plain.getByRole('alert').innerText(), /not complete, or is of another country/)
  t.equal(await plain.locator('#number').inputValue(), '07 00', 'what was typed is still there')
  t.equal(await plain.locator('#number').getAttribute('aria-invalid'), 'true', 'and is marked')
  t.ok(await plain.getByLabel('Wave').isChecked())
})

t.test('a card is paid at its bank, and the payer comes back', async (t) => {
  const { url } = await openSession(service)
  const page = await visitor(t)
  await page.goto(url)
  await page.getByRole('button', { name: /by card/ }).click()
  await page.getByRole('button', { name: 'Approve the payment' }).click()
  await page.getByRole('heading', { name: 'Paid, thank you' }).waitFor()
})

t.test('a payer gives up and goes back to the shop', async (t) => {
  const { url } = await openSession(service, shop)
  const page = await visitor(t)
  await page.goto(url)
  await page.getByRole('button', { name: 'Cancel and go back' }).click()
  await page.getByRole('heading', { name: 'Payment canceled' }).waitFor()
  await look(t, page, 'phone-en-canceled')
  t.match(
    await page.getByRole('link', { name: /^Back to/ }).getAttribute('href'),
    /^https:\/\/shop\.example\/cart\?session_id=cs_/,
  )
})

t.test('where the payer chooses the amount it is asked for, and a link leads there', async (t) => {
  const made = await service.post<{ url: string }>('/api/v1/payment_links', {
    currency: 'XOF',
    country: 'SN',
    feeMode: 'customer_pays',
    description: 'Don pour l’école',
  })
  const page = await visitor(t, { language: 'fr' })
  await page.goto(made.body.url)
  await look(t, page, 'phone-fr-open-amount')
  t.match(await page.locator('#amount-hint').innerText(), /Des frais s’y ajoutent/)
  await page.getByLabel('Montant').fill('2 500')
  await page.getByLabel('Orange Money').check()
  await page.locator('#number').fill('77 000 00 42')
  await page.getByRole('button', { name: /^Payer 2\s500\sF\sCFA \+ frais par carte$/ }).waitFor()
  await page.getByLabel('Montant').fill('2 500 environ')
  await page.getByRole('button', { name: 'Payer', exact: true }).waitFor()
  await page.getByLabel('Montant').fill('2 500')
  await page.getByRole('button', { name: /^Payer 2\s500\sF\sCFA \+ frais$/ }).click()
  await page.getByRole('heading', { name: 'Confirmez sur votre téléphone' }).waitFor()
  t.match(await page.locator('.sum').innerText(), /2\s550\sF\sCFA/, 'with the fee of 2 %')
})

t.test('pages speak the language of the browser, and another one when asked', async (t) => {
  const { url } = await openSession(service)
  const page = await visitor(t, { language: 'fr' })
  await page.goto(url)
  await page.getByRole('link', { name: 'English' }).click()
  await page.getByText('Amount to pay').waitFor()
  t.equal(await page.locator('html').getAttribute('lang'), 'en')
})

t.test('links that lead nowhere say so', async (t) => {
  const page = await visitor(t)
  t.equal((await page.goto(`${service.url}/checkout/session/cs_${'0'.repeat(32)}`))!.status(), 404)
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  await look(t, page, 'phone-en-missing')
  const { body } = await service.post<{ id: string; url: string }>('/api/v1/payment_links', { amount: 5_000 })
  await service.post(`/api/v1/payment_links/${body.id}/deactivate`)
  t.equal((await page.goto(body.url))!.status(), 410)
  await page.getByRole('heading', { name: 'This link is closed' }).waitFor()
})

t.test('the page has the color of its merchant, where that can be read', async (t) => {
  await service.call('PATCH', '/api/v1/merchant/settings/branding', { accent_color: '#FFD400' })
  const { url } = await openSession(service)
  const page = await visitor(t)
  await page.goto(url)
  await look(t, page, 'phone-en-own-color')
  await service.call('PATCH', '/api/v1/merchant/settings/branding', { accent_color: null })
})

t.test('how soon a slow telephone shows the page is measured', async (t) => {
  const { url } = await openSession(service)
  const paintedAt = await firstPaintMs(await visitor(t), url, 'first-paint')
  t.comment(`first contentful paint after ${Math.round(paintedAt)} ms`)
  t.ok(paintedAt > 0)
})

t.test('the page can be used by keyboard alone, and with letters twice as large', async (t) => {
  const { url } = await openSession(service)
  const page = await visitor(t)
  await page.goto(url)
  await page.getByLabel('Orange Money').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Tab')
  await page.keyboard.type('0700000042')
  await page.evaluate(() => {
    ;(
      globalThis as unknown as { document: { documentElement: { style: { fontSize: string } } } }
    ).document.documentElement.style.fontSize = '200%'
  })
  t.notOk(await scrollsSideways(page))
  await picture(page, 'phone-en-200-percent')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Confirm on your phone' }).waitFor()
})

t.test('what a merchant writes is text on the page, whatever it is', async (t) => {
  const description = '<img src=x onerror=alert(1)> "quoted" &'
  const { body } = await service.post<{ url: string }>('/api/v1/payment_links', {
    amount: 5_000,
    description,
  })
  const page = await visitor(t)
  await page.goto(body.url)
  t.equal(await page.locator('main img').count(), 0)
  t.match(await page.locator('main').innerText(), /<img src=x onerror=alert\(1\)>/)
})

t.test('a receipt on paper is always the same file, with the accents of names', async (t) => {
  const { id, url } = await openSession(service)
  const page = await visitor(t)
  await page.goto(url)
  await payByPhone(page)
  await page.getByRole('link', { name: 'Play the payer' }).click()
  await page.getByRole('button', { name: 'Approve the payment' }).click()
  await page.getByRole('heading', { name: 'Paid, thank you' }).waitFor()
  const file = async (language: string) => {
    const answer = await fetch(`${service.url}/checkout/session/${id}/receipt.pdf?lang=${language}`)
    t.equal(answer.headers.get('content-type'), 'application/pdf')
    return Buffer.from(await answer.arrayBuffer())
  }
  const [one, again, other] = [await file('fr'), await file('fr'), await file('en')]
  t.ok(one.equals(again))
  t.notOk(one.equals(other))
  t.equal(one.subarray(0, 5).toString(), '%PDF-')
  t.match(one.toString('latin1'), /DejaVuSans/, 'the font comes with it')
})

testConservation(() => service)
