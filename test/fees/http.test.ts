import t from 'tap'
import {
  quoteFee,
  tariffs,
  type FeeQuestion,
  type FeeQuote,
  type Tariff,
} from '../../packages/contract/payments/fees.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import { amountMinorMax } from '../../packages/contract/vocabulary.ts'
import { fc } from '../support/properties.ts'

const now = new Date('2026-01-01T12:00:00Z')
const amountMinor = 10_000
const payment = { operation: 'payment', method: 'mobile_money', amountMinor, currency: 'XOF' } as const
const withdrawal = { ...payment, operation: 'campaign_withdrawal' } as const
const cardPayment = { ...payment, method: 'card' } as const
const payout = { ...payment, operation: 'payout' } as const

function quote(question: FeeQuestion, table?: readonly Tariff[]): FeeQuote {
  return quoteFee(question, now, table)
}

function reasonOf(question: FeeQuestion): string | undefined {
  try {
    quote(question)
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error.reason
    throw error
  }
}

const sentences: Record<string, [FeeQuestion, fee: number, total: number, net: number]> = {
  'a mobile money payment costs the merchant 2 %': [payment, 200, 10_000, 9_800],
  'with customer_pays the fee is on top': [{ ...payment, feeMode: 'customer_pays' }, 200, 10_200, 10_000],
  'half a unit is rounded up': [{ ...payment, amountMinor: 25 }, 1, 25, 24],
  'less than half a unit is rounded down': [{ ...payment, amountMinor: 24 }, 0, 24, 24],
  'a card payment costs 2.9 % and a fixed part': [cardPayment, 390, 10_000, 9_610],
  'the fee of a payment is never above its amount': [{ ...cardPayment, amountMinor: 60 }, 60, 60, 0],
  'a mobile money payout costs 1 % on top': [payout, 100, 10_100, 10_000],
  'a small payout costs the minimum': [{ ...payout, amountMinor: 100 }, 50, 150, 100],
  'a great payout costs the maximum': [{ ...payout, amountMinor: 2_000_000 }, 5_000, 2_005_000, 2_000_000],
  'a bank payout costs a fixed amount': [{ ...payout, method: 'bank', currency: 'EUR' }, 76, 10_076, 10_000],
  'a payout in CDF has the limits of CDF': [{ ...payout, currency: 'CDF' }, 22_500, 32_500, 10_000],
  'a refund costs nothing': [{ ...payment, operation: 'refund' }, 0, 10_000, 10_000],
  'a withdrawal costs 3 % of what is withdrawn': [withdrawal, 300, 10_000, 9_700],
}

for (const [sentence, [question, feeMinor, totalMinor, netMinor]] of Object.entries(sentences)) {
  t.test(sentence, async (t) => {
    t.match(quote(question), { feeMinor, totalMinor, netMinor, feeMode: question.feeMode ?? 'merchant_pays' })
  })
}

t.test('the details tell what the fee is made of', async (t) => {
  t.same(quote(cardPayment).details, [
    { type: 'percent', basisPoints: 290, amountMinor: 290 },
    { type: 'fixed', basisPoints: null, amountMinor: 100 },
  ])
  t.same(quote({ ...payout, amountMinor: 1_000 }).details, [
    { type: 'percent', basisPoints: 100, amountMinor: 10 },
    { type: 'minimum', basisPoints: null, amountMinor: 40 },
  ])
  t.same(quote({ ...payout, amountMinor: 1_000_000 }).details, [
    { type: 'percent', basisPoints: 100, amountMinor: 10_000 },
    { type: 'maximum', basisPoints: null, amountMinor: -5_000 },
  ])
})

t.test('a card payment in a currency without a tariff is refused', async (t) => {
  t.equal(reasonOf({ ...cardPayment, currency: 'TND' }), 'payment_must_be_eligible')
})

t.test('the greatest amount has an exact fee', async (t) => {
  const { feeMinor, netMinor } = quote({ ...payment, amountMinor: amountMinorMax })
  t.equal(feeMinor, 180_143_985_094_820)
  t.equal(BigInt(feeMinor) + BigInt(netMinor), BigInt(amountMinorMax))
})

t.test('a total beyond the greatest exact amount is refused', async (t) => {
  const greatest = { ...payment, amountMinor: amountMinorMax }
  t.equal(reasonOf({ ...greatest, feeMode: 'customer_pays' }), 'request_must_be_valid')
  t.equal(reasonOf({ ...greatest, operation: 'payout', method: 'bank' }), 'request_must_be_valid')
})

const tariff: Tariff = {
  operation: 'payment',
  basisPoints: 100,
  fixedMinor: 0,
  minimumMinor: 0,
  validFrom: '2025-01-01T00:00:00.000Z',
}

t.test('the most specific tariff wins: merchant before operator, country, method and currency', async (t) => {
  const table = [
    { ...tariff, basisPoints: 1 },
    { ...tariff, currency: 'XOF', basisPoints: 2 },
    { ...tariff, method: 'mobile_money', basisPoints: 3 },
    { ...tariff, country: 'SN', basisPoints: 4 },
    { ...tariff, operator: 'wave', basisPoints: 5 },
    { ...tariff, merchant: 'm1', basisPoints: 6 },
  ] satisfies Tariff[]
  const question = { ...payment, amountMinor: 10_000, country: 'SN', operator: 'wave', merchant: 'm1' }
  for (const count of [1, 2, 3, 4, 5, 6]) t.equal(quote(question, table.slice(0, count)).feeMinor, count)
  t.equal(quote({ ...question, merchant: 'm2' }, table.toReversed()).feeMinor, 5, 'not of another merchant')
  t.equal(
    quote(
      question,
      table.filter(({ merchant }) => !merchant),
    ).feeMinor,
    5,
  )
})

t.test('the newest of the tariffs that are valid already wins', async (t) => {
  const table = [
    { ...tariff, basisPoints: 2, validFrom: '2026-01-01T12:00:00.000Z' },
    { ...tariff, basisPoints: 3, validFrom: '2026-01-01T12:00:00.001Z' },
    { ...tariff, basisPoints: 1 },
  ]
  t.equal(quote(payment, table).feeMinor, 2)
})

const amounts = fc.oneof(fc.integer({ min: 1, max: 3_000_000 }), fc.integer({ min: 1, max: amountMinorMax }))
const ownTariffs = fc.record({
  operation: fc.constantFrom('payment', 'payout'),
  basisPoints: fc.integer({ min: 0, max: 10_000 }),
  fixedMinor: fc.integer({ min: 0, max: 1_000_000 }),
  minimumMinor: fc.integer({ min: 0, max: 1_000 }),
  maximumMinor: fc.integer({ min: 1_000, max: 100_000_000 }),
  validFrom: fc.constant(tariff.validFrom),
})

t.test(
  'by any tariff the details add up to the fee, the fee is within its limits, the totals agree',
  async () => {
    fc.assert(
      fc.property(amounts, ownTariffs, fc.boolean(), (amountMinor, own, isPayer) => {
        const question = { ...payment, operation: own.operation, amountMinor: Math.min(amountMinor, 2 ** 52) }
        const { feeMinor, details, totalMinor, netMinor } = quote(
          { ...question, feeMode: isPayer ? 'customer_pays' : 'merchant_pays' },
          [own],
        )
        const sum = details.reduce((total, detail) => total + BigInt(detail.amountMinor), 0n)
        const cap = Math.min(own.maximumMinor, own.operation === 'payment' ? question.amountMinor : Infinity)
        return (
          sum === BigInt(feeMinor) &&
          feeMinor >= Math.min(own.minimumMinor, cap) &&
          feeMinor <= cap &&
          totalMinor - netMinor === feeMinor &&
          (totalMinor === question.amountMinor || netMinor === question.amountMinor)
        )
      }),
      { numRuns: 2_000 },
    )
  },
)

t.test('a percentage is the exact quotient, rounded half up', async () => {
  fc.assert(
    fc.property(amounts, fc.integer({ min: 1, max: 9_999 }), (amountMinor, basisPoints) => {
      const { feeMinor } = quote({ ...payment, amountMinor }, [{ ...tariff, basisPoints }])
      const twiceTheError = 2n * (BigInt(feeMinor) * 10_000n - BigInt(amountMinor) * BigInt(basisPoints))
      return twiceTheError > -10_000n && twiceTheError <= 10_000n
    }),
    { numRuns: 2_000 },
  )
})

t.test('a greater amount never costs less', async () => {
  const countable = amounts.map((amount) => Math.min(amount, 2 ** 52))
  fc.assert(
    fc.property(countable, countable, fc.constantFrom(...tariffs), (one, other, known) => {
      const { operation, method, currency = 'XOF' } = known
      const fee = (amount: number) => quote({ operation, method, currency, amountMinor: amount }).feeMinor
      return fee(Math.min(one, other)) <= fee(Math.max(one, other))
    }),
  )
})
