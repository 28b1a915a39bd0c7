import t from 'tap'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { createCustomer } from '../support/commerce/billing.ts'
import { openSession } from '../support/commerce/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'
import { openPortal } from '../support/subscriber.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const pages: Readonly<Record<string, () => Promise<string>>> = {
  checkout: async () => (await openSession(service)).url,
  async invoice() {
    const order = { amount: 5_000, currency: 'XOF' }
    return String((await service.post('/api/v1/merchant/invoices', order)).body['hosted_invoice_url'])
  },
  async topup() {
    const { token } = await openPortal(service, { customerId: await createCustomer(service) })
    const order = { amount: 4_000, currency: 'XOF', country: 'SN' }
    const { body } = await service.post('/api/v1/customer-portal/wallet/topups', order, { key: token })
    return String(body['checkout_url'])
  },
}

async function inBrowser(path: string, form?: Readonly<Record<string, string>>) {
  const body = form && { method: 'POST', body: new URLSearchParams(form) }
  const headers = { accept: 'text/html', 'accept-language': 'en' }
  const answer = await fetch(service.url + path, { headers, redirect: 'manual', ...body })
  return { location: answer.headers.get('location') ?? '', text: await answer.text() }
}

t.test('a card that was declined at the bank is not said to have been declined by phone', async (t) => {
  await lawOver(t, Object.entries(pages), async ([name, open]) => {
    const path = new URL(await open()).pathname
    await inBrowser(`${path}/pay`, { PaymentMethod: 'card' })
    const { text } = await inBrowser(path)
    const [bank] = /\/sandbox\/pay\/[\w-]+/.exec(text)!
    const { location } = await inBrowser(`${bank}/decline`, {})
    for (const place of [path, location]) {
      const shown = await eventually(
        () => inBrowser(place),
        (seen) => seen.text.includes('declined'),
      )
      t.match(shown.text, 'Your bank, or whoever holds the card, has declined the payment.', name)
      t.notMatch(shown.text, 'on your phone', name)
    }
  })
})

testConservation(() => service)
