import t from 'tap'
import { accessibilityFaults, picture, visitor } from '../support/pages/browser.ts'
import { ScriptedRail } from '../support/payments/scripted-rail.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'
import { openPortal } from '../support/subscriber.ts'

// One operator of one country is served in live, and then none any more.

const environments: 'live'[] = ['live']
const wave = {
  environments,
  methods: ['mobile_money'],
  countries: ['SN'],
  operators: ['wave'],
  rail: new ScriptedRail(),
} as const

let service: TestService
const pages: Record<string, string> = {}
const portals: string[] = []

t.before(async () => {
  service = await startService(t, {}, { simulatesLive: false, rails: [wave] })
})

const live = () => ({ key: service.liveKey })
const pathOf = (url: unknown) => new URL(String(url)).pathname
/** The service does not know by which port it is reached, and so not where it leads. */
const inBrowser = async (path: string, language = 'en'): Promise<string> => {
  const asked = { headers: { accept: 'text/html' }, redirect: 'manual' } as const
  const answer = await fetch(`${service.url}${path}?lang=${language}`, asked)
  const on = answer.headers.get('location')
  return on === null ? answer.text() : inBrowser(pathOf(on), language)
}
const json = async (path: string) => (await service.get(path, { key: '' })).body
const onlyWave = [{ type: 'mobile_money', operators: [{ code: 'wave', name: 'Wave' }] }]
/** Without JavaScript: a form as browsers send it. */
const sent = (path: string, fields: Readonly<Record<string, string>>) =>
  fetch(`${service.url}${path}?lang=en`, {
    method: 'POST',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields),
    redirect: 'manual',
  })
const press = (path: string, operator: string) =>
  sent(`${path}/pay`, { PaymentMethod: 'mobile_money', Operator: operator, PhoneNumber: '77 000 00 42' })
const topUp = (amount: string) => sent(`${portals[0]!}/topups`, { Amount: amount })
const order = { amount: 5_000, currency: 'XOF' }
const session = (body: object) =>
  service.post('/api/v1/checkout/sessions', { ...order, country: 'SN', ...body }, live())

t.test('pages offer the operators that are served in live, and no others', async (t) => {
  const bill = await service.post('/api/v1/merchant/invoices', order, live())
  pages['invoice'] = pathOf(bill.body['hosted_invoice_url'])
  const { body: opened } = await session({})
  pages['checkout'] = pathOf(opened['url'])
  const terms = { ...order, country: 'SN' }
  const { body: link } = await service.post('/api/v1/payment_links', terms, live())
  pages['link'] = pathOf(link['url'])
  t.match(await json(pages['invoice']), { payment_methods: onlyWave, countries: ['SN'] })
  t.match(await json(`/api/checkout/${String(opened['id'])}`), { payment_methods: onlyWave })
  await lawOver(t, Object.entries(pages), async ([name, path]) => {
    const text = await inBrowser(path)
    t.match(text, 'value="wave"', name)
    t.notMatch(text, /value="(orange_money|free_money|card)"|country=CI/, name)
  })
  const sandbox = await service.post('/api/v1/merchant/invoices', order)
  const there = await json(pathOf(sandbox.body['hosted_invoice_url']))
  t.match(there, { payment_methods: [{ operators: [{}, {}, {}] }, { type: 'card' }] })
})

t.test('whoever presses Pay for what is served no longer chooses again, on the same page', async (t) => {
  await lawOver(t, ['invoice', 'checkout'], async (name) => {
    const text = await (await press(pages[name]!, 'orange_money')).text()
    t.match(text, 'This way to pay is not available at the moment. Choose another one.', name)
    t.match(text, 'value="wave"', name)
    t.match(text, 'value="77 000 00 42"', 'what was typed stays')
  })
})

t.test('what nobody could pay in live is not offered to anybody', async (t) => {
  const refused = { status: 503, body: { code: 'IKW-TRANSFER-010' } }
  t.match(await session({ paymentMethodTypes: ['card'] }), refused)
  t.match(await session({ country: 'CI' }), refused)
  // Wave does not move so much, and no card is taken.
  t.match(await session({ amount: 3_000_000 }), refused)
})

t.test('a customer puts money into the wallet where somebody can pay it', async (t) => {
  const email = 'awa@example.com'
  const met = { ...order, transaction_country: 'SN', customer_email: email }
  const { body } = await service.post('/api/v1/payment-intents', met, live())
  const portal = await openPortal(service, { customerId: body['customer'] }, service.liveKey)
  portals.push(`/portal/${portal.token}`)
  t.match(await json(portals[0]!), { topup_currency: 'XOF' })
})

t.test('an operator is served by whatever name, and one that there is not is named as wrong', async (t) => {
  const wanted = { ...order, transaction_country: 'SN' }
  const { body } = await service.post('/api/v1/payment-intents', wanted, live())
  const confirm = (operator: string) => {
    const mobile_money = { country: 'SN', operator, msisdn: '+221770000042' }
    const asked = { payment_method: { type: 'mobile_money', mobile_money } }
    return service.post(`/api/v1/payment-intents/${String(body['id'])}/confirm`, asked, live())
  }
  t.match(await confirm('nobody'), { status: 400, body: { code: 'IKW-TRANSFER-002' } })
  t.match(await confirm('orange_money'), { status: 503, body: { code: 'IKW-TRANSFER-010' } })
  t.match(await confirm('WAVE'), { status: 200 })
})

t.test('who enters more than what is served moves is told so, and enters another amount', async (t) => {
  const text = await (await topUp('3 000 000')).text()
  t.match(text, 'No money was put in. This operator does not take that amount.')
  t.match(text, 'value="3 000 000"', 'what was typed stays')
  const portal = { key: portals[0]!.slice('/portal/'.length) }
  const wanted = { ...order, amount: 3_000_000, country: 'SN' }
  const asked = await service.post('/api/v1/customer-portal/wallet/topups', wanted, portal)
  t.match(asked, { status: 400, body: { code: 'IKW-TRANSFER-001', param: '/amount' } })
})

t.test('where nothing is served any more, the page says so instead of taking a number', async (t) => {
  environments.length = 0
  t.match(await json(portals[0]!), { topup_currency: null })
  await lawOver(t, Object.entries(pages), async ([name, path]) => {
    const [english, french] = [await inBrowser(path), await inBrowser(path, 'fr')]
    t.match(english, /cannot be paid on this page. Please ask/, name)
    t.match(french, /n’est pas possible sur cette page. Demandez/, name)
    t.notMatch(english + french, /name="PaymentMethod"/, name)
  })
  const text = await (await topUp('5 000')).text()
  t.match(text, 'No money was put in. This cannot be paid on this page. Please ask')
  for (const name of ['invoice', 'checkout']) {
    const pressed = await press(pages[name]!, 'wave')
    t.equal(pressed.status, 303, `${name}: back to the page, which says so`)
    t.match(pathOf(new URL(pressed.headers.get('location')!, service.url)), pages[name]!)
  }
  const page = await visitor(t, { language: 'fr' })
  for (const name of ['invoice', 'checkout']) {
    await page.goto(`${service.url}${pages[name]}?lang=fr`)
    await picture(page, `live-unserved-${name}`)
    t.strictSame(await accessibilityFaults(page), [], name)
  }
})
