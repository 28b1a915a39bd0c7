import t from 'tap'
import { money } from '../../services/api/pages/money.ts'
import { reminderMail } from '../../services/processes/mails/reminder-mails.ts'
import { lawOver } from '../support/law.ts'

const languages = ['en', 'fr'] as const
const currencies = ['XOF', 'GHS', 'TND', 'CLF']
const largest = Array.from({ length: 10 }, (_, less) => Number.MAX_SAFE_INTEGER - less)
const shown = currencies.flatMap((currency) =>
  [0, 1, 7, 100, 12_345, ...largest].map((amount) => [currency, amount] as const),
)

t.test('every sum that can be asked for is shown to its last digit', async (t) => {
  await lawOver(t, shown, ([currency, amount]) => {
    for (const language of languages) {
      const digits = money(amount, currency, language).replaceAll(/\D/g, '')
      t.equal(Number(digits), amount, `${amount} ${currency}: ${money(amount, currency, language)}`)
    }
  })
})

t.test('so it is in the mails that remind of invoices', async (t) => {
  await lawOver(t, currencies, (currency) => {
    const amount = Number.MAX_SAFE_INTEGER - 1
    const owed = { name: 'Sahel', number: 'INV-000001', amount, currency, dueDate: '2026-01-01' }
    const { text } = reminderMail('en', { ...owed, url: 'https://pay.example/invoice/x', livemode: true })
    t.ok(text.replaceAll(/[.,\s]/g, '').includes(String(amount)), text)
  })
})
