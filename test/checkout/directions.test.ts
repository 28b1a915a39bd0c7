import t from 'tap'
import { isolated, isolating } from '../../packages/contract/locale/direction.ts'
import { asName } from '../../services/processes/mails/mail-texts.ts'
import { invoiceRows } from '../../services/api/pages/invoice.ts'
import { readerOf } from '../../services/api/pages/layout.ts'
import { visitor } from '../support/pages/browser.ts'
import { seenOrder } from '../support/pages/seen-order.ts'

const shop = 'متجر النور'
const unseen = /[\u061c\u200e\u200f\u2066-\u2069]/gu

t.test('what is written in Arabic leaves our words and numbers beside it in their order', async (t) => {
  const page = await visitor(t, {})
  await page.setContent('<body style="white-space: pre; width: max-content"></body>')
  const shown = async (text: string) => (await seenOrder(page, text)).replaceAll(unseen, '')
  const reader = readerOf({ query: { lang: 'en' }, path: '/', language: () => 'en' })
  const days = { issued_on: '2026-01-01', due_date: '2026-01-01' }
  const bill = { ...days, currency: 'XOF', number: null, customer_name: null, merchant: { name: shop } }
  const rowsOf = (description: string) => {
    const lines = [{ description, quantity: 3, amount: 1_000 }]
    return invoiceRows(reader, { ...bill, lines } as never)
  }
  for (const what of ['قهوة', 'Lampe 500\u200f', 'ש 500'])
    t.match(await shown(rowsOf(what).find(([name]) => name.includes('×'))![0]), /\u0020×\u00203$/, what)
  const lead = await shown(reader.words.paidLead('5 000 F CFA', shop))
  t.match(lead, /has received your payment of 5 000 F CFA\.$/)
  t.match(await shown(`${asName(shop)} 1 000`), /1 000$/, 'in a mail')
})

t.test('what is read from left to right is as it was, and nothing turns around what is behind it', (t) => {
  t.equal(isolated('Chez Awa & fils, 1 000'), 'Chez Awa & fils, 1 000')
  t.equal(isolated('Lamp \u202e1\u2069'), 'Lamp 1')
  t.equal(isolated(`${shop}\u2069\u202e`), `\u2068${shop}\u2069`)
  const words = isolating({ one: 'One', two: (name: string, count: number) => `${name} ${count}` })
  t.equal(words.one, 'One')
  t.equal(words.two(shop, 2), `\u2068${shop}\u2069 2`)
  t.end()
})
