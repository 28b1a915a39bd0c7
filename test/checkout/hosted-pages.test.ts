import type { Page } from 'playwright-core'
import t from 'tap'
import { pictures } from '../../packages/domain/branding/examples.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { accessibilityFaults, picture, scrollsSideways, visitor } from '../support/pages/browser.ts'
import { answerPayment, byPhone, openSession } from '../support/commerce/checkout.ts'
import { hostedVisitors, hostedWays } from '../support/pages/hosted-ways.ts'
import { lawOver } from '../support/law.ts'
import { bytesOf, faultsInOtherGuises, keyboardFaults, paintCauses } from '../support/pages/page-laws.ts'
import { startPublicService } from '../support/processes/public-service.ts'
import type { TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startPublicService(t)
  const settings = '/api/v1/merchant/settings/branding'
  await service.call('PATCH', settings, { accent_color: '#7a1fa2' })
  await service.call('PUT', `${settings}/logo`, { contentBase64: pictures.blue })
})

const ways = Object.entries(hostedWays)

const walks = ways.flatMap(([name, way]) => hostedVisitors.map((visiting) => ({ name, way, visiting })))

await lawOver(t, walks, ({ name, way, visiting: { name: whose, visitor: as, texts } }) =>
  t.test(`${name}, its whole way: ${whose}`, async (t) => {
    const page = await visitor(t, as)
    const strangers = strangersTo(page)
    const look = async (step: string) => {
      const seen = `${name}-${whose}-${step}`
      t.equal(await page.locator('html').getAttribute('lang'), as.language, seen)
      await picture(page, `hosted-${seen}`)
      if (!as.javaScript) return
      t.notOk(await scrollsSideways(page), seen)
      t.strictSame(await accessibilityFaults(page), [], seen)
      if (whose === 'phone-fr') t.strictSame(await faultsInOtherGuises(page), [], seen)
    }
    await page.goto(await way.start(service))
    await look('start')
    await way.walk({ service, page, visitor: as, texts, look })
    t.strictSame(strangers, [], 'nobody else was asked')
  }),
)

/** Addresses that are not of the service, of all that the page asks for. */
function strangersTo(page: Page): readonly string[] {
  const found: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== service.url) found.push(request.url())
  })
  return found
}

t.test('each page can be used by keyboard alone, and shows where one is', async (t) => {
  await lawOver(t, ways, async ([name, { start }]) => {
    const page = await visitor(t, { device: 'desktop' })
    await page.goto(await start(service))
    t.strictSame(await keyboardFaults(page), [], name)
  })
})

t.test('each page lets nothing in, and tells nobody where it was', async (t) => {
  await lawOver(t, ways, async ([name, { start }]) => {
    const answer = await fetch(await start(service), { headers: { accept: 'text/html' } })
    t.equal(answer.status, 200, name)
    const policy = answer.headers.get('content-security-policy')!
    t.match(policy, "default-src 'none'", name)
    t.notMatch(policy, 'unsafe', name)
    t.equal(answer.headers.get('referrer-policy'), 'no-referrer', name)
    t.equal(answer.headers.get('cache-control'), 'no-store', name)
    t.notMatch(await answer.text(), /<style|<script>| style=| on[a-z]+="/, name)
  })
})

/** TCP sends ten packets before it waits for the first answer. */
const firstFlight = 14_600
const wholeMost = 60_000

t.test('each page is small, and is painted after few round trips', async (t) => {
  await lawOver(t, ways, async ([name, { start }]) => {
    const page = await visitor(t)
    const total = await bytesOf(page, await start(service))
    t.ok(total < wholeMost, `${name}: ${total} bytes with everything`)
    const { redirects, awaited, bytes } = await paintCauses(page)
    t.ok(redirects <= (name === 'link' ? 1 : 0), `${name}: ${redirects} redirects`)
    t.ok(awaited.length <= 2, `${name} is painted after ${awaited.join(' and ')}`)
    t.ok(bytes < firstFlight, `${name}: ${bytes} bytes before it is painted`)
  })
})

const asked = 20
const processorMostMs = 100

t.test('each page takes the service little work, once it has been asked for', async (t) => {
  await lawOver(t, ways, async ([name, { start }]) => {
    const url = await start(service)
    const ask = async () => (await fetch(url, { headers: { accept: 'text/html' } })).text()
    await ask()
    const before = process.cpuUsage()
    for (let count = 0; count < asked; count++) await ask()
    const { user, system } = process.cpuUsage(before)
    const eachMs = (user + system) / 1_000 / asked
    t.ok(eachMs < processorMostMs, `${name}: ${eachMs.toFixed(1)} ms of a processor`)
  })
})

t.test('a payer whose number is of another country is asked for that country once', async (t) => {
  const bill = async () => {
    const order = { amount: 5_000, currency: 'XOF' }
    const { body } = await service.post<{ hosted_invoice_url: string }>('/api/v1/merchant/invoices', order)
    return body.hosted_invoice_url
  }
  const page = await visitor(t)
  await page.goto(await bill())
  await page.getByText('Is your number from another country?').click()
  await page.getByRole('link', { name: /Ivoire/ }).click()
  await page.getByLabel('Orange Money').check()
  await page.locator('#number').fill('07 00 00 00 42')
  await page.getByRole('button', { name: /^Pay 5,000\sF\sCFA$/ }).click()
  await page.getByRole('heading', { name: 'Confirm on your phone' }).waitFor()
  // A page that waits for its payer loads itself again, and would interrupt.
  const later = await page.context().newPage()
  await later.goto(await bill())
  await later.getByText('+225').waitFor()
  t.ok(await later.getByLabel('Orange Money').isChecked())
  t.equal(await later.locator('#number').inputValue(), '07 00 00 00 42')
})

t.test('a payer who has paid is told to be taken back only where that happens', async (t) => {
  const { id, url } = await openSession(service, { successUrl: 'https://shop.example/thanks' })
  const { body } = await service.post(`/api/checkout/${id}/pay`, byPhone(), { key: '' })
  await answerPayment(service, body['payment_intent'])
  for (const javaScript of [true, false]) {
    const page = await visitor(t, { javaScript })
    await page.goto(url)
    await page.getByRole('link', { name: /^Back to/ }).waitFor()
    t.equal(await page.getByText('You are being taken back').isVisible(), javaScript)
  }
})

testConservation(() => service)
