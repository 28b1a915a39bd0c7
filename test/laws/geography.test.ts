import t from 'tap'
import { countryOf } from '../../packages/contract/locale/countries.ts'
import { currencyExponent } from '../../packages/contract/locale/currencies.ts'
import { geography } from '../../packages/contract/payments/catalog.ts'
import { lawOver } from '../support/law.ts'

t.test('seven of the 249 countries of ISO 3166-1 are supported', async (t) => {
  t.equal(geography.length, 249)
  const supported = geography.filter((country) => country.supported).map(({ code }) => code)
  t.same(supported, ['BF', 'CD', 'CI', 'CM', 'GN', 'ML', 'SN'])
  t.same(countryOf('NG'), { code: 'NG', name: 'Nigeria', callingCode: '+234', currency: 'NGN' })
})

t.test('every country has a currency of ISO 4217, or none', async (t) => {
  await lawOver(t, geography, ({ code, currency, currencyExponent: exponent }) => {
    t.ok(currency === null || (currencyExponent(currency) !== undefined && exponent !== null), code)
  })
})

t.test('currencies have the exponent of ISO 4217', async (t) => {
  const expected = { XOF: 0, XAF: 0, GNF: 0, CDF: 2, EUR: 2, USD: 2, TND: 3, XXX: undefined, xof: undefined }
  for (const [code, exponent] of Object.entries(expected)) t.equal(currencyExponent(code), exponent, code)
})
