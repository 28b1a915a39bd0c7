import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { accessibilityFaults, picture, scrollsSideways, visitor } from '../support/pages/browser.ts'
import { answerPayment, openSession } from '../support/commerce/checkout.ts'
import {
  askedOperation,
  goesOn,
  hostedVisitors,
  hostedWays,
  intentOf,
  pressPay,
  type Walk,
} from '../support/pages/hosted-ways.ts'
import { lawOver } from '../support/law.ts'
import { startPublicService } from '../support/processes/public-service.ts'
import type { TestService } from '../support/service.ts'

let service: TestService
let aheadMs = 0

t.before(async () => {
  service = await startPublicService(t, {}, { clock: () => new Date(Date.now() + aheadMs) })
})

type Visiting = (typeof hostedVisitors)[number]

/** A payer at the beginning of a way, who judges what is shown. */
async function walkTo(t: Test, url: string, { name, visitor: as, texts }: Visiting): Promise<Walk> {
  const page = await visitor(t, as)
  const look = async (step: string) => {
    await picture(page, `failure-${name}-${step}`)
    if (!as.javaScript) return
    t.strictSame(await accessibilityFaults(page), [], step)
    t.notOk(await scrollsSideways(page), step)
  }
  await page.goto(url)
  return { service, page, visitor: as, texts, look }
}

const paying = ['checkout', 'link', 'invoice', 'topup'] as const
const walks = paying.flatMap((name) => hostedVisitors.map((visiting) => ({ name, visiting })))

await lawOver(t, walks, ({ name, visiting }) =>
  t.test(`${name}: declined, tried again and paid, ${visiting.name}`, async (t) => {
    const walk = await walkTo(t, await hostedWays[name]!.start(service), visiting)
    const { page, texts } = walk
    await pressPay(walk)
    await answerPayment(service, await intentOf(service, await askedOperation(walk)), 'failed')
    await goesOn(walk, page.getByRole('alert'))
    t.match(await page.getByRole('alert').innerText(), texts.notPaid)
    await walk.look(`${name}-declined`)
    const again = page.getByRole('button', { name: texts.again })
    if (name === 'topup') await again.click()
    await pressPay(walk)
    await answerPayment(service, await intentOf(service, await askedOperation(walk)))
    await goesOn(walk, page.getByRole('heading', { name: texts.paid }))
    await walk.look(`${name}-paid`)
  }),
)

const shop = {
  country: 'SN',
  successUrl: 'https://shop.example/thanks',
  cancelUrl: 'https://shop.example/cart',
}

await lawOver(t, hostedVisitors, (visiting) =>
  t.test(`checkout: canceled by its payer, and not paid after that, ${visiting.name}`, async (t) => {
    const { url, id } = await openSession(service, shop)
    const walk = await walkTo(t, url, visiting)
    const { page, texts } = walk
    await page.getByRole('button', { name: texts.giveUp }).click()
    await page.getByRole('heading', { name: texts.canceled }).waitFor()
    await walk.look('checkout-canceled')
    t.equal(await payButtons(page), 0)
    const back = page.getByRole('link', { name: /^(Back to|Revenir chez) / })
    t.match(await back.getAttribute('href'), /^https:\/\/shop\.example\/cart/)
    t.match((await service.get(`/api/v1/checkout/sessions/${id}`)).body, {
      status: 'canceled',
      payment_status: 'unpaid',
    })
  }),
)

await lawOver(t, hostedVisitors, (visiting) =>
  t.test(`checkout: expired while its payer was away, ${visiting.name}`, async (t) => {
    const { url } = await openSession(service, shop)
    const walk = await walkTo(t, url, visiting)
    const { page, texts, visitor: as } = walk
    await page.getByLabel('Orange Money').check()
    await page.locator('#number').fill('77 000 00 42')
    aheadMs = 25 * 60 * 60_000
    t.teardown(() => (aheadMs = 0))
    await page.getByRole('button', { name: texts.pay }).first().click()
    await page.getByRole('heading', { name: texts.expired }).waitFor()
    t.equal(await page.locator('html').getAttribute('lang'), as.language)
    await walk.look('checkout-expired')
    t.equal(await payButtons(page), 0)
    aheadMs = 0
  }),
)

function payButtons(page: Page): Promise<number> {
  return page.locator('button[name=PaymentMethod]').count()
}

testConservation(() => service)
