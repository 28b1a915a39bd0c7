import { createHash } from 'node:crypto'
import t from 'tap'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { invoiceProcess } from '../../services/processes/invoices.ts'
import { toolsOf } from '../../services/processes/runner/main.ts'
import { createCustomer } from '../support/commerce/billing.ts'
import { answerPayment } from '../support/commerce/checkout.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { eventually } from '../support/eventually.ts'
import { time } from '../../services/api/pages/money.ts'
import { startService, type TestService } from '../support/service.ts'
import { openPortal } from '../support/subscriber.ts'
import { topUp } from '../support/commerce/wallets.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** The path of a new invoice's page; the service does not know by which port it is reached. */
async function page(body: object = {}): Promise<{ id: string; path: string }> {
  const order = { amount: 5_000, currency: 'XOF', description: 'Réparation d’une lampe', ...body }
  const answer = await service.post('/api/v1/merchant/invoices', order)
  const { id, hosted_invoice_url: url } = answer.body
  return { id: String(id), path: new URL(String(url)).pathname }
}

const json = (path: string) => service.get(path, { key: '' })
const inBrowser = async (path: string, init: RequestInit = {}) => {
  const headers = { accept: 'text/html', ...(init.headers as object) }
  const answer = await fetch(service.url + path, { redirect: 'manual', ...init, headers })
  // Where lines may end within amounts is of no interest here.
  const text = (await answer.text()).replaceAll(/<(?:span class="amount"|wbr \/)>/g, '')
  return { status: answer.status, location: answer.headers.get('location'), text }
}
const press = (path: string, fields: Readonly<Record<string, string>>) =>
  inBrowser(`${path}/pay?lang=fr`, { method: 'POST', body: new URLSearchParams(fields) })
const byPhone = { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '77 000 00 42' }
/** What was pressed in a browser is listed a moment later: only whoever asked is shown it at once. */
async function paymentOf(invoice: string): Promise<string> {
  const { body } = await eventually(
    () => service.get(`/api/v1/billing/invoices/${invoice}`),
    ({ body }) => body['payment_intent'] !== null,
  )
  return String(body['payment_intent'])
}
const patch = (id: string, status: string) =>
  service.call('PATCH', `/api/v1/merchant/invoices/${id}/status`, { status })

t.test('a payer pays an invoice on its page, in French', async (t) => {
  const { id, path } = await page({ customer_name: 'Awa <Koné>' })
  const shown = await inBrowser(`${path}?lang=fr`)
  t.equal(shown.status, 200)
  t.match(shown.text, /Payer 5\s000\sF\sCFA/)
  t.match(shown.text, 'Awa &lt;Koné&gt;')
  t.match(shown.text, 'Réparation')
  t.match(await press(path, byPhone), { status: 303, location: `${path}?lang=fr` })
  t.match((await inBrowser(`${path}?lang=fr`)).text, 'Confirmez sur votre téléphone')
  t.match((await json(`${path}/status`)).body, { payment_status: 'processing', poll_after_ms: 1_500 })
  const again = await press(path, byPhone)
  t.equal(again.status, 303, 'pressing twice is harmless')
  await answerPayment(service, await paymentOf(id))
  await eventually(
    () => json(path),
    ({ body }) => body['status'] === 'paid',
  )
  t.match((await inBrowser(`${path}?lang=fr`)).text, 'Payé, merci')
  t.match((await json(`${path}/status`)).body, { payment_status: 'paid', poll_after_ms: 0 })
})

t.test('whoever has a number of another country pays with it', async (t) => {
  const { id, path } = await page()
  t.match((await json(path)).body, { country: 'SN', countries: ['BF', 'CI', 'ML', 'SN'] })
  const { text } = await inBrowser(`${path}?lang=fr`)
  t.match(text, `${path}?lang=fr&amp;country=CI"`)
  t.match(text, 'Côte d’Ivoire')
  const there = `${path}?lang=fr&country=CI`
  const shown = await inBrowser(there)
  for (const one of ['+225', 'MTN Mobile Money', 'data-country="CI"', `/pay?lang=fr&amp;country=CI"`])
    t.match(shown.text, one)
  const form = { PaymentMethod: 'mobile_money', Operator: 'mtn', PhoneNumber: '05 00 00 00 42' }
  const body = new URLSearchParams(form)
  const pressed = await inBrowser(`${path}/pay?lang=fr&country=CI`, { method: 'POST', body })
  t.match(pressed, { status: 303, location: there })
  t.match((await inBrowser(`${path}?lang=fr`)).text, 'code PIN MoMo', 'also without the country')
  await answerPayment(service, await paymentOf(id))
  const paid = await eventually(
    () => json(path),
    ({ body }) => body['status'] === 'paid',
  )
  t.match(paid.body, { receipt: { parts: [{ country: 'CI', operator: 'mtn', phone: '0042' }] } })
  t.match(await inBrowser(`${path}?lang=fr&country=NG`), { status: 200 }, 'nobody pays from there')
})

t.test('what was typed wrong stays, with the reason', async (t) => {
  const { path } = await page()
  const refused = await press(path, { ...byPhone, PhoneNumber: '12' })
  t.equal(refused.status, 400)
  t.match(refused.text, 'value="12"')
  t.match(refused.text, 'role="alert"')
})

t.test('a page is found by its whole address only, and a draft has none', async (t) => {
  const { id, path } = await page()
  const guessed = `${path.slice(0, -32)}${'0'.repeat(32)}`
  for (const wrong of [guessed, path.slice(0, -1), `/invoice/${id}`, `${guessed}/status`]) {
    t.equal((await json(wrong)).status, 404, wrong)
    t.equal((await inBrowser(wrong)).status, 404, wrong)
  }
  t.equal((await inBrowser(`${guessed}/invoice.pdf`)).status, 404)
  t.equal((await json(path.toUpperCase().replace('/INVOICE', '/invoice'))).status, 200, 'in either case')
  const draft = await page({ status: 'draft' })
  t.equal((await json(draft.path)).status, 404)
  await patch(draft.id, 'open')
  t.equal((await json(draft.path)).status, 200)
})

t.test('nobody pays what is void', async (t) => {
  const { id, path } = await page()
  await patch(id, 'void')
  t.match((await json(path)).body, { status: 'void', payment_methods: [] })
  t.match((await inBrowser(`${path}?lang=en`)).text, 'Nothing is to be paid')
  t.equal((await press(path, byPhone)).status, 303)
  t.match((await json(path)).body, { status: 'void', payment: null })
})

t.test('an invoice of nothing says that nothing was to be paid', async (t) => {
  const order = { customerId: await createCustomer(service), currency: 'XOF', amountDue: 0 }
  const { body } = await service.post('/api/v1/billing/invoices', order)
  const path = new URL(String(body['hosted_invoice_url'])).pathname
  const { text } = await inBrowser(`${path}?lang=fr`)
  t.match(text, 'Il n’y avait rien à payer')
  t.notMatch(text, /a reçu|Payé, merci/)
})

t.test('what nobody can pay online says so, on its page and in the portal', async (t) => {
  const customer = await createCustomer(service)
  const { path: foreign } = await page({ currency: 'NGN', customer })
  t.match((await json(foreign)).body, { status: 'open', payment_methods: [] })
  t.match((await inBrowser(`${foreign}?lang=fr`)).text, 'n’est pas possible sur cette page')
  const { url } = await openPortal(service, { customerId: customer })
  const shown = await eventually(
    () => inBrowser(`${new URL(url).pathname}?lang=fr`),
    ({ text }) => text.includes(foreign),
  )
  t.match(shown.text, 'n’est pas possible sur cette page')
})

t.test('an invoice on paper is the same bytes every time', async (t) => {
  const { path } = await page({ customer_name: 'Awa Koné' })
  const print = async (language: string) => {
    const answer = await fetch(`${service.url}${path}/invoice.pdf?lang=${language}`)
    t.equal(answer.headers.get('content-type'), 'application/pdf')
    const bytes = Buffer.from(await answer.arrayBuffer())
    t.equal(bytes.subarray(0, 5).toString(), '%PDF-')
    return createHash('sha256').update(bytes).digest('hex')
  }
  t.equal(await print('fr'), await print('fr'))
  t.not(await print('en'), await print('fr'))
})

const printed = async (path: string) => {
  const answer = await fetch(service.url + path)
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, type: answer.headers.get('content-type'), bytes: bytes.toString('latin1') }
}

t.test('a paid invoice has a receipt, which is the same bytes every time', async (t) => {
  const { id, path } = await page({ customer_name: 'Awa Koné' })
  t.equal((await printed(`${path}/receipt.pdf?lang=fr`)).status, 404, 'not before it is paid')
  await press(path, byPhone)
  await answerPayment(service, await paymentOf(id))
  const { body: shown } = await eventually(
    () => json(path),
    ({ body }) => body['payment_status'] === 'paid',
  )
  const part = { amount: 5_000, method: 'mobile_money', operator: 'orange_money', phone: '0042' }
  t.match(shown['receipt'], { parts: [part] })
  const { text } = await inBrowser(`${path}?lang=fr`)
  const { number, paid_at } = shown['receipt'] as { number: string; paid_at: string }
  for (const one of ['Reçu', 'Orange Money', '0042', number, time(paid_at, 'fr')])
    t.match(text, `>${one}<`, one)
  t.match(text, `href="${path}/receipt.pdf?lang=fr"`)
  const first = await printed(`${path}/receipt.pdf?lang=fr`)
  t.match(first, { status: 200, type: 'application/pdf' })
  await eventually(
    () => json(path),
    ({ body }) => body['status'] === 'paid',
  )
  t.equal((await printed(`${path}/receipt.pdf?lang=fr`)).bytes, first.bytes)
})

t.test('whoever was shown less than what is left pays nothing, and is shown it', async (t) => {
  const { path } = await page()
  const answer = await press(path, { ...byPhone, AtMost: '4999' })
  t.equal(answer.status, 409)
  t.match(answer.text, /Le montant a pu changer[^]*name="AtMost" value="5000"/)
  t.match((await json(path)).body, { payment_status: 'unpaid', payment: null })
})

t.test('a receipt says what of it was paid back', async (t) => {
  const { id, path } = await page()
  await press(path, byPhone)
  const intent = await paymentOf(id)
  await answerPayment(service, intent)
  const payment = `/api/v1/merchant/payments/${intent}`
  t.equal((await service.post(`${payment}/refund`, { amount: 1_500 })).status, 201)
  const { text } = await eventually(
    () => inBrowser(`${path}?lang=fr`),
    ({ text }) => text.includes('Remboursé'),
  )
  t.match(text, /Remboursé<\/dt>\s*<dd>1\s500\sF\sCFA/)
})

t.test('invoices that are paid in the same minute have receipts of their own numbers', async (t) => {
  const numbers = []
  for (let count = 0; count < 2; count++) {
    const { id, path } = await page()
    await patch(id, 'paid')
    numbers.push(((await json(path)).body['receipt'] as { number: string }).number)
  }
  t.not(numbers[0], numbers[1])
})

t.test('what was paid in another way says so on its receipt', async (t) => {
  const customer = await createCustomer(service)
  await topUp(service, { customer, amount: 2_000 })
  const { id, path } = await page({ customer })
  t.equal((await json(path)).body['receipt'], null)
  await service.post(`/api/v1/merchant/billing/wallet/invoices/${id}/apply`, { amount: 2_000 })
  await patch(id, 'paid')
  const parts = [
    { amount: 2_000, method: 'wallet' },
    { amount: 3_000, method: 'outside' },
  ]
  t.match((await json(path)).body, { receipt: { parts } })
  const { text } = await inBrowser(`${path}?lang=fr`)
  t.match(text, /Portefeuille<\/dt>\s*<dd>2\s000\sF\sCFA/)
  t.match(text, /Directement au marchand<\/dt>\s*<dd>3\s000\sF\sCFA/)
})

t.test('nobody is reminded of what cannot be paid while the merchant is suspended', async (t) => {
  const { id } = await page()
  const { credentials, runtime } = service.service
  const { dependencies } = runtime
  const owner = { merchant: credentials.merchant_id, livemode: false }
  const move = (type: 'SuspendMerchant' | 'ActivateMerchant') =>
    dependencies.executor.send(
      merchant,
      owner.merchant,
      { type, data: { reason: 'test' } },
      { ...owner, actor: 'test', correlation: id },
    )
  const dueAt = new Date().toISOString()
  const timer = {
    ...owner,
    id: `invoice_reminder:${id}`,
    kind: 'invoice_reminder',
    subject: id,
    dueAt,
    attempts: 0,
  }
  const againInMs = async () => {
    const until = await invoiceProcess.timers!['invoice_reminder']!(timer, toolsOf(dependencies))
    return (until as Date).getTime() - dependencies.clock().getTime()
  }
  await move('SuspendMerchant')
  t.ok((await againInMs()) > 80_000_000, 'a day later')
  await move('ActivateMerchant')
  t.ok((await againInMs()) < 60_000, 'it is under way')
})

testConservation(() => service)

t.test('what costs nothing is answered as paid, and a period has two ends', async (t) => {
  const order = { customerId: await createCustomer(service), currency: 'XOF', amountDue: 0 }
  const [whole, day] = ['/api/v1/billing/invoices', '2026-01-01T00:00:00Z']
  const free = await service.post(whole, order)
  t.match(free.body, { status: 'paid', number: /^INV-/ })
  t.match((await service.get(`${whole}/${String(free.body['id'])}`)).body, free.body)
  const half = (field: string) => service.post(whole, { ...order, [field]: day })
  t.match(await half('periodStart'), { status: 400, body: { param: '/periodEnd' } })
  t.match(await half('periodEnd'), { status: 400, body: { param: '/periodStart' } })
})
