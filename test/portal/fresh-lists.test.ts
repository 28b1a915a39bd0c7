import t from 'tap'
import { invoiceFor } from '../support/commerce/portal.ts'
import { createCustomer } from '../support/commerce/billing.ts'
import { openPortal } from '../support/subscriber.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

interface Shown {
  readonly due: readonly { readonly id: string }[]
  readonly settled: readonly { readonly id: string }[]
}

async function newCustomer(email: string) {
  const customer = await createCustomer(service, email)
  const { pathname } = new URL((await openPortal(service, { customerId: customer })).url)
  return { customer, page: async () => (await service.get<Shown>(pathname, { key: '' })).body }
}

t.test('the page shows what was invoiced a moment ago', async (t) => {
  const { customer, page } = await newCustomer('awa@example.com')
  for (let turn = 1; turn <= 12; turn++) {
    const newest = await invoiceFor(service, customer)
    const { due } = await page()
    t.equal(due[0]?.id, newest)
  }
})

t.test('an invoice that is paid while the page is made is on one of its lists', async (t) => {
  const { customer, page } = await newCustomer('binta@example.com')
  for (let turn = 0; turn < 8; turn++) {
    const invoice = await invoiceFor(service, customer)
    const isPaid = service.call('PATCH', `/api/v1/merchant/invoices/${invoice}/status`, { status: 'paid' })
    const seen = await Promise.all(Array.from({ length: 12 }, page))
    for (const { due, settled } of seen) {
      const found = [...due, ...settled].filter(({ id }) => id === invoice)
      t.equal(found.length, 1)
    }
    await isPaid
    t.ok((await page()).settled.some(({ id }) => id === invoice))
  }
})
