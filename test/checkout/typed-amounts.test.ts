import t from 'tap'
import { minorAmount } from '../../packages/contract/locale/money-text.ts'
import { lawOver } from '../support/law.ts'

const typed: readonly (readonly [currency: string, text: string, minor: number | undefined])[] = [
  ['XOF', '5 000', 5_000],
  ['XOF', '5.000', 5_000],
  ['XOF', '5,000', 5_000],
  ['XOF', '1\u202f234\u202f567', 1_234_567],
  ['XOF', '5.5', undefined],
  ['XOF', '0.500', undefined],
  ['XOF', '0,001', undefined],
  ['XOF', '00.100', undefined],
  ['EUR', '12,50', 1_250],
  ['EUR', '12.5', 1_250],
  ['EUR', '1.234', 123_400],
  ['EUR', '1,234,567', 123_456_700],
  ['EUR', '1,234.50', 123_450],
  ['EUR', '1.234,5', 123_450],
  ['EUR', '1,234,567.89', 123_456_789],
  ['EUR', '0,234.50', undefined],
  ['EUR', '12,34.50', undefined],
  ['EUR', '1,234,56', undefined],
  ['XOF', '1,234.50', undefined],
  ['XOF', '1,234.00', 1_234],
  ['XOF', '1234.0', 1_234],
  ['XOF', '1234.000', undefined],
  ['XOF', '1’234', 1_234],
  ['EUR', '0,50', 50],
  ['EUR', '0,500', undefined],
  ['EUR', '0.001', undefined],
  ['EUR', '1.234,567', undefined],
  ['EUR', '', undefined],
  ['EUR', '-5', undefined],
  ['EUR', '1e3', undefined],
  ['EUR', '0', undefined],
]

t.test('amounts are understood as people write them, and never as a thousand times as much', async (t) => {
  await lawOver(t, typed, ([currency, text, minor]) =>
    t.equal(minorAmount(text, currency), minor, `"${text}" ${currency}`),
  )
})
