import { geography, type CountryFacts } from '../../../packages/contract/payments/catalog.ts'
import type { Request, Slice } from '../../../packages/contract/routes.ts'
import {
  literals,
  nullable,
  optional,
  record,
  Type,
  type Static,
} from '../../../packages/contract/vocabulary.ts'

export const CountryQuery = record({
  search: optional(Type.String({ minLength: 1, maxLength: 100 })),
  supported: optional(Type.Boolean()),
})

export const CountryResource = record({
  id: Type.String({ description: 'ISO 3166-1 alpha-2 code' }),
  object: literals('country'),
  name: Type.String(),
  calling_code: nullable(Type.String()),
  currency: nullable(Type.String()),
  currency_exponent: nullable(Type.Integer()),
  msisdn_example: nullable(Type.String()),
  supported: Type.Boolean({ description: 'Whether payments are taken there' }),
})

type CountryView = Static<typeof CountryResource>

type CountriesCall = Request<undefined, Static<typeof CountryQuery>>

export async function listCountries({ query }: Pick<CountriesCall, 'query'>): Promise<Slice<CountryView>> {
  const { search, supported } = query
  const text = search?.toLowerCase()
  const found = geography.filter((country) => {
    const isFound = !text || country.name.toLowerCase().includes(text) || country.code.toLowerCase() === text
    return isFound && (supported === undefined || country.supported === supported)
  })
  return { data: found.map(viewCountry) }
}

function viewCountry(country: CountryFacts): CountryView {
  const { code, name, callingCode, currency, currencyExponent, msisdnExample, supported } = country
  return {
    id: code,
    object: 'country',
    name,
    calling_code: callingCode,
    currency,
    currency_exponent: currencyExponent,
    msisdn_example: msisdnExample,
    supported,
  }
}
