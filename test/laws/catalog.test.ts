import t from 'tap'
import {
  markets,
  msisdnFits,
  operatorIn,
  operatorOfAlias,
  operators,
  paymentCurrencies,
} from '../../packages/contract/payments/catalog.ts'
import {
  admitPayment,
  admitPaymentMethod,
  admitPayout,
} from '../../packages/contract/payments/eligibility.ts'
import { Refusal, type RefusalName } from '../../packages/contract/refusals.ts'
import { magicCardTokens, magicNumbers, magicValueOf } from '../../packages/contract/payments/sandbox.ts'
import { lawOver } from '../support/law.ts'

type Expected = readonly [RefusalName, pointer: string, message: string]
type MobileMoney = { type: 'mobile_money'; country: string; operator: string; msisdn: string }

const wave: MobileMoney = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000001' }
const bank = { type: 'bank', bankCode: 'SN012', accountNumber: '0123456789', accountName: 'Awa' } as const
const card = { type: 'card', token: 'tok_visa' } as const
const terms = { country: 'SN', currency: 'XOF', amountMinor: 5_000 }

/** The refusal that a call ends in: its name, the pointer of the field and the message. */
function refusalOf(call: () => unknown): Expected | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const [fault] = error.details.faults ?? []
    return [error.reason, fault?.pointer ?? '', fault?.message ?? '']
  }
}

t.test('operators are those of the catalog', async (t) => {
  t.same(
    operators.map(({ code, country }) => `${code} ${country}`),
    [
      'orange_money BF',
      'moov BF',
      'mtn CD',
      'orange_money CI',
      'mtn CI',
      'moov CI',
      'wave CI',
      'orange_money CM',
      'mtn CM',
      'orange_money GN',
      'orange_money ML',
      'orange_money SN',
      'wave SN',
      'free_money SN',
    ],
  )
})

t.test('an operator is found by its name in any casing and by an alias with the country', async (t) => {
  const names = ['orange_money', 'OrangeMoney', 'Orange Money', 'orange_ci', 'orange_money_ci', 'ORANGE-CI']
  for (const name of names) {
    t.equal(operatorIn('CI', name)?.code, 'orange_money', name)
  }
  t.match(operatorOfAlias('mtn_cm'), { code: 'mtn', country: 'CM' })
})

t.test('an alias of another country, and an operator of another country, is not found', async (t) => {
  t.equal(operatorIn('SN', 'orange_ci'), undefined)
  t.equal(operatorIn('SN', 'mtn'), undefined)
  t.equal(operatorIn('FR', 'wave'), undefined)
  t.equal(operatorOfAlias('wave'), undefined)
})

t.test('a number fits its own country only', async (t) => {
  await lawOver(t, markets, ({ country, msisdnExample }) => {
    const fitting = markets.filter((other) => msisdnFits(other.country, msisdnExample))
    t.same(
      fitting.map((other) => other.country),
      [country],
    )
    t.notOk(msisdnFits(country, `${msisdnExample}0`), 'one digit more')
    t.notOk(msisdnFits(country, msisdnExample.slice(0, -1)), 'one digit less')
    t.notOk(msisdnFits(country, msisdnExample.slice(1)), 'without the plus')
  })
})

t.test('a country is paid in its own currency and in those of cards', async (t) => {
  t.same(paymentCurrencies('GN'), ['GNF', 'XOF', 'XAF', 'EUR', 'USD'])
  t.equal(
    refusalOf(() => admitPayment({ country: 'GN', currency: 'GNF', amountMinor: 5_000 })),
    undefined,
  )
  t.same(
    refusalOf(() => admitPayment({ country: 'SN', currency: 'GNF', amountMinor: 5_000 })),
    ['payment_must_be_eligible', '/currency', '"GNF" cannot be paid in SN; one of XOF, XAF, EUR, USD'],
  )
  t.same(
    refusalOf(() => admitPayment({ country: 'FR', currency: 'EUR', amountMinor: 5_000 })),
    [
      'payment_must_be_eligible',
      '/transaction_country',
      '"FR" is not a supported country; one of BF, CD, CI, CM, GN, ML, SN',
    ],
  )
})

t.test('a payment that nobody would collect is refused before it is confirmed', async (t) => {
  const tried = (country: string, currency: string, amountMinor: number) =>
    refusalOf(() => admitPayment({ country, currency, amountMinor }))?.at(-1)
  t.equal(tried('GN', 'GNF', 999), 'orange_money in GN moves 1,000 to 20,000,000 GNF; the amount is 999')
  t.equal(tried('GN', 'GNF', 1_000), undefined)
  t.equal(tried('SN', 'XOF', 99), undefined, 'a card pays it')
})

t.test('a payment is confirmed with an operator that collects, under its canonical name', async (t) => {
  t.same(admitPaymentMethod(terms, { ...wave, operator: 'wave_sn' }), wave)
  t.same(admitPaymentMethod(terms, { ...wave, operator: 'free_money' }), { ...wave, operator: 'free_money' })
  t.same(admitPaymentMethod({ ...terms, currency: 'EUR' }, card), card)
})

const refusedMethods: Record<string, [Partial<typeof terms>, object, Expected]> = {
  'a method of another country': [
    {},
    { ...wave, country: 'CI' },
    [
      'method_country_must_be_the_transactions',
      '/payment_method/mobile_money/country',
      '"CI" is not the transaction_country of the intent, SN',
    ],
  ],
  'an operator that is not in the country': [
    {},
    { ...wave, operator: 'tigo' },
    [
      'payment_method_must_be_valid',
      '/payment_method/mobile_money/operator',
      '"tigo" is not an operator in SN; one of orange_money, wave, free_money',
    ],
  ],
  'a number of another country': [
    {},
    { ...wave, msisdn: '+2250700000001' },
    [
      'payment_method_must_be_valid',
      '/payment_method/mobile_money/msisdn',
      '"+2250700000001" is not a number in SN; it must look like +221770000001',
    ],
  ],
  "mobile money in a currency that is not the operator's": [
    { currency: 'EUR' },
    wave,
    ['payment_must_be_eligible', '/payment_method/mobile_money/operator', 'wave in SN moves XOF, not EUR'],
  ],
  "an amount above the operator's limit": [
    { amountMinor: 2_000_001 },
    wave,
    [
      'payment_must_be_eligible',
      '/payment_method/mobile_money/operator',
      'wave in SN moves 100 to 2,000,000 XOF; the amount is 2,000,001',
    ],
  ],
  'a card in a currency that cards do not pay': [
    { country: 'GN', currency: 'GNF' },
    card,
    ['payment_must_be_eligible', '/payment_method/type', 'cards do not pay GNF; one of XOF, XAF, EUR, USD'],
  ],
  'a bank account': [
    {},
    bank,
    [
      'payment_must_be_eligible',
      '/payment_method/type',
      '"bank" does not take payments; one of mobile_money, card',
    ],
  ],
}

for (const [what, [changes, method, expected]] of Object.entries(refusedMethods)) {
  t.test(`a payment is not confirmed with ${what}`, async (t) => {
    t.same(
      refusalOf(() => admitPaymentMethod({ ...terms, ...changes }, method as MobileMoney)),
      expected,
    )
  })
}

t.test('a payout goes to an operator that takes payouts, or to a bank', async (t) => {
  t.same(admitPayout(terms, { ...wave, operator: 'Wave' }), wave)
  t.same(admitPayout({ currency: 'XOF' }, wave), wave, 'a destination is saved without an amount')
  t.same(admitPayout({ ...terms, amountMinor: 100 }, wave), wave, 'the smallest amount')
  t.same(admitPayout({ ...terms, amountMinor: 2_000_000 }, wave), wave, 'the greatest amount')
  t.same(admitPayout({ currency: 'EUR', amountMinor: 1 }, bank), bank)
})

const refusedPayouts: Record<string, [object, object, Expected]> = {
  'an unsupported country': [
    {},
    { ...wave, country: 'FR' },
    [
      'operator_must_be_known',
      '/destination/country',
      '"FR" is not a supported country; one of BF, CD, CI, CM, GN, ML, SN',
    ],
  ],
  'an operator that is not in the country': [
    {},
    { ...wave, operator: 'tigo' },
    [
      'operator_must_be_known',
      '/destination/operator',
      '"tigo" is not an operator in SN; one of orange_money, wave, free_money',
    ],
  ],
  'an operator that only collects': [
    {},
    { ...wave, operator: 'free_money' },
    [
      'operator_must_take_payouts',
      '/destination/operator',
      '"free_money" does not take payouts in SN; one of orange_money, wave',
    ],
  ],
  'an operator of another currency': [
    { currency: 'XAF' },
    wave,
    ['payout_must_have_one_valid_destination', '/currency', 'wave in SN moves XOF, not XAF'],
  ],
  'a number of another country': [
    {},
    { ...wave, msisdn: '+33612345678' },
    [
      'payout_must_have_one_valid_destination',
      '/destination/msisdn',
      '"+33612345678" is not a number in SN; it must look like +221770000001',
    ],
  ],
  'an operator with less than its least amount': [
    { amountMinor: 99 },
    wave,
    [
      'amount_must_be_within_the_limits',
      '/amount',
      'wave in SN moves 100 to 2,000,000 XOF; the amount is 99',
    ],
  ],
  'a bank in a currency that banks are not paid in': [
    { currency: 'GNF' },
    bank,
    [
      'payout_must_have_one_valid_destination',
      '/currency',
      '"GNF" is not paid out to banks; one of XOF, XAF, EUR, USD',
    ],
  ],
}

for (const [what, [changes, destination, expected]] of Object.entries(refusedPayouts)) {
  t.test(`a payout does not go to ${what}`, async (t) => {
    t.same(
      refusalOf(() => admitPayout({ ...terms, ...changes }, destination as MobileMoney)),
      expected,
    )
  })
}

t.test('magic values are the last four digits of a number or account, or a whole card token', async (t) => {
  await lawOver(t, magicNumbers, (row) => {
    t.equal(magicValueOf({ ...wave, msisdn: `+22177000${row.value}` }), row)
    t.equal(magicValueOf({ ...bank, accountNumber: `SN08${row.value}` }), row)
  })
  await lawOver(t, magicCardTokens, (row) => t.equal(magicValueOf({ type: 'card', token: row.value }), row))
  t.equal(magicValueOf({ ...wave, msisdn: '+221770001234' }), undefined)
})

t.test('the usual spellings of card tokens mean what ours mean', async (t) => {
  const behaviour = (token: string) => magicValueOf({ type: 'card', token })?.behaviour
  t.equal(behaviour('tok_visa'), behaviour('tok_ok'))
  t.equal(behaviour('tok_chargeDeclined'), behaviour('tok_declined'))
})
