import t from 'tap'
import { minorAmount } from '../../packages/contract/locale/money-text.ts'

t.test('amounts are understood as people write them, and never as a thousand times as much', (t) => {
  const typed = (currency: string, amounts: Readonly<Record<string, number | undefined>>) => {
    for (const [text, minor] of Object.entries(amounts))
      t.equal(minorAmount(text, currency), minor, `"${text}" ${currency}`)
  }
  typed('XOF', { '5 000': 5_000, '5.000': 5_000, '5,000': 5_000, '1\u202f234\u202f567': 1_234_567 })
  typed('XOF', { '5.5': undefined, '0.500': undefined, '0,001': undefined, '00.100': undefined })
  typed('EUR', { '12,50': 1_250, '12.5': 1_250, '1.234': 123_400, '1,234,567': 123_456_700 })
  typed('EUR', { '0,50': 50, '0,500': undefined, '0.001': undefined, '1.234,567': undefined })
  typed('EUR', { '': undefined, '-5': undefined, '1e3': undefined, '0': undefined })
  t.end()
})
