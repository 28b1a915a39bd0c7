import t from 'tap'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { createCustomer, subscribe } from '../support/commerce/billing.ts'
import { topUp } from '../support/commerce/wallets.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'
import { openPortal } from '../support/subscriber.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

async function inBrowser(address: string, form?: Readonly<Record<string, string>>) {
  const sent = form && { method: 'POST', body: new URLSearchParams(form) }
  const headers = { accept: 'text/html', 'accept-language': 'en' }
  const { pathname } = new URL(address)
  return (await fetch(service.url + pathname, { headers, ...sent })).text()
}

function move(type: 'SuspendMerchant' | 'ActivateMerchant') {
  const { credentials, runtime } = service.service
  const envelope = { merchant: credentials.merchant_id, livemode: false, actor: 'test', correlation: 'test' }
  const order = { type, data: { reason: 'test' } } as const
  return runtime.dependencies.executor.send(merchant, envelope.merchant, order, envelope)
}

/** Pages on which a customer can pay: an invoice, a portal with a wallet, and a top-up. */
async function payable() {
  const customer = await createCustomer(service)
  await topUp(service, { customer, amount: 3_000 })
  await subscribe(service, { customerId: customer })
  const order = { amount: 5_000, currency: 'XOF', customer }
  const invoice = (await service.post('/api/v1/merchant/invoices', order)).body
  const { url: portal, token } = await openPortal(service, { customerId: customer })
  const asked = { amount: 4_000, currency: 'XOF', country: 'SN' }
  const { body } = await service.post('/api/v1/customer-portal/wallet/topups', asked, { key: token })
  const topup = String(body['checkout_url'])
  return { id: String(invoice['id']), invoice: String(invoice['hosted_invoice_url']), portal, topup }
}

const paying = /action="[^"]*\/(?:pay|topups|wallet)[?"]|>\s*Pay /

t.test('while a merchant is suspended its pages say so, and offer nothing to pay', async (t) => {
  const { id, ...pages } = await payable()
  await lawOver(t, Object.entries(pages), async ([name, page]) => {
    t.match(await inBrowser(page), paying, name)
  })
  await move('SuspendMerchant')
  t.teardown(() => move('ActivateMerchant'))
  await lawOver(t, Object.entries(pages), async ([name, page]) => {
    const shown = await inBrowser(page)
    t.match(shown, 'No payments at the moment', name)
    t.notMatch(shown, paying, name)
  })
  t.match(await inBrowser(pages.invoice), 'Save the invoice (PDF)')
  t.notMatch(await inBrowser(pages.portal), /action=/, 'customers only look')
  const byPhone = { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '770000042' }
  const pressed = [
    [`${pages.invoice}/pay`, byPhone],
    [`${pages.topup}/pay`, byPhone],
    [`${pages.portal}/topups`, { Amount: '500' }],
    [`${pages.portal}/invoices/${id}/wallet`, { AtMost: '500' }],
  ] as const
  for (const [address, form] of pressed) {
    const shown = await inBrowser(address, form)
    t.match(shown, 'No payments at the moment', address)
    t.notMatch(shown, paying, address)
  }
})

testConservation(() => service)
