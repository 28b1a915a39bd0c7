import { countries, countryOf, type Country } from '../locale/countries.ts'
import { currencyExponent } from '../locale/currencies.ts'

/** Direction of the money as the merchant sees it: `pay_in` is a collection, `payout` a disbursement. */
export type Direction = 'pay_in' | 'payout'

const brands = {
  orange_money: { name: 'Orange Money', short: 'orange' },
  mtn: { name: 'MTN Mobile Money', short: 'mtn' },
  moov: { name: 'Moov Money', short: 'moov' },
  wave: { name: 'Wave', short: 'wave' },
  free_money: { name: 'Free Money', short: 'free' },
} as const

export type OperatorCode = keyof typeof brands

export interface Operator {
  readonly code: OperatorCode
  readonly name: string
  readonly country: string
  readonly currency: string
  readonly directions: readonly Direction[]
  readonly minimumMinor: number
  readonly maximumMinor: number
}

/** A country we operate in. */
export interface Market {
  readonly country: string
  readonly currency: string
  /** `+225` */
  readonly callingCode: string
  readonly msisdnPattern: RegExp
  /** In the sandbox it is also a number that succeeds. */
  readonly msisdnExample: string
  readonly operators: readonly Operator[]
}

interface Offer {
  readonly msisdnDigits: number
  readonly msisdnExample: string
  readonly operators: readonly OperatorCode[]
}

/** Domain model 7. */
const offers: Readonly<Record<string, Offer>> = {
  BF: { msisdnDigits: 8, msisdnExample: '+22670000001', operators: ['orange_money', 'moov'] },
  CD: { msisdnDigits: 9, msisdnExample: '+243810000001', operators: ['mtn'] },
  CI: {
    msisdnDigits: 10,
    msisdnExample: '+2250700000001',
    operators: ['orange_money', 'mtn', 'moov', 'wave'],
  },
  CM: { msisdnDigits: 9, msisdnExample: '+237670000001', operators: ['orange_money', 'mtn'] },
  GN: { msisdnDigits: 9, msisdnExample: '+224620000001', operators: ['orange_money'] },
  ML: { msisdnDigits: 8, msisdnExample: '+22370000001', operators: ['orange_money'] },
  SN: { msisdnDigits: 9, msisdnExample: '+221770000001', operators: ['orange_money', 'wave', 'free_money'] },
}

/** Inferred: Free Money only collects, so that one operator takes no payouts. */
const directionsOf: Readonly<Partial<Record<OperatorCode, readonly Direction[]>>> = { free_money: ['pay_in'] }

/** Domain model 7. Inferred: an operator's limits depend on the currency alone. */
const limitsMinor: Readonly<Record<string, readonly [minimum: number, maximum: number]>> = {
  XOF: [100, 2_000_000],
  XAF: [100, 2_000_000],
  GNF: [1_000, 20_000_000],
  CDF: [50_000, 500_000_000],
}

export interface Limits {
  readonly minimumMinor: number
  readonly maximumMinor: number
}

/**
 * Inferred: the most that one card payment or bank payout may move. It keeps books countable in every
 * environment.
 */
const cashlessLimits: Readonly<Record<string, Limits>> = {
  XOF: { minimumMinor: 1, maximumMinor: 1_000_000_000 },
  XAF: { minimumMinor: 1, maximumMinor: 1_000_000_000 },
  EUR: { minimumMinor: 1, maximumMinor: 200_000_000 },
  USD: { minimumMinor: 1, maximumMinor: 200_000_000 },
}

/** Limits of cards and banks; operators have their own. */
export function cashlessLimitsOf(currency: string): Limits {
  return cashlessLimits[currency] ?? { minimumMinor: 1, maximumMinor: 0 }
}

/** Domain model 7: currencies that cards pay with in every country and that banks are paid in. */
export const cardCurrencies: readonly string[] = ['XOF', 'XAF', 'EUR', 'USD']
export const bankCurrencies = cardCurrencies

export const markets: readonly Market[] = Object.entries(offers).map((entry) => openMarket(...entry))
export const operators: readonly Operator[] = markets.flatMap((market) => market.operators)

const marketByCountry: ReadonlyMap<string, Market> = new Map(
  markets.map((market) => [market.country, market]),
)
const operatorByName: ReadonlyMap<string, Operator> = new Map(
  operators.map((operator) => [`${operator.country}:${squash(operator.code)}`, operator]),
)
const operatorByAlias: ReadonlyMap<string, Operator> = new Map(
  operators.flatMap((operator) => aliasesOf(operator).map((alias) => [squash(alias), operator])),
)

function openMarket(country: string, { msisdnDigits, msisdnExample, operators }: Offer): Market {
  const { callingCode, currency } = countryOf(country) ?? {}
  const [minimumMinor, maximumMinor] = limitsMinor[currency ?? ''] ?? []
  if (!callingCode || !currency || !minimumMinor || !maximumMinor) {
    throw new Error(`the catalog is not complete for ${country}`)
  }
  return {
    country,
    currency,
    callingCode,
    msisdnPattern: new RegExp(`^\\${callingCode}[0-9]{${msisdnDigits}}$`),
    msisdnExample,
    operators: operators.map((code) => ({
      code,
      name: brands[code].name,
      country,
      currency,
      directions: directionsOf[code] ?? ['pay_in', 'payout'],
      minimumMinor,
      maximumMinor,
    })),
  }
}

/** Names that include the country: `orange_ci`, `orange_money_ci`. */
function aliasesOf({ code, country }: Operator): readonly string[] {
  return [`${brands[code].short}_${country}`, `${code}_${country}`]
}

/** Domain model 1.2: words are compared in lower case and without `_`, `-` and spaces. */
function squash(text: string): string {
  return text.toLowerCase().replace(/[-_ ]/g, '')
}

export function marketOf(country: string): Market | undefined {
  return marketByCountry.get(country)
}

/**
 * The operator with that name in a country; its `code` is canonical. Aliases of another country do not match.
 */
export function operatorIn(country: string, name: string): Operator | undefined {
  const operator = operatorByName.get(`${country}:${squash(name)}`) ?? operatorOfAlias(name)
  return operator?.country === country ? operator : undefined
}

/** `orange_ci` is Orange Money in CI. */
export function operatorOfAlias(alias: string): Operator | undefined {
  return operatorByAlias.get(squash(alias))
}

/** Whether an international phone number belongs to a country we operate in. */
export function msisdnFits(country: string, msisdn: string): boolean {
  return marketByCountry.get(country)?.msisdnPattern.test(msisdn) ?? false
}

export interface CountryFacts extends Country {
  readonly currencyExponent: number | null
  readonly msisdnPattern: RegExp | null
  readonly msisdnExample: string | null
  /** Whether we operate there. */
  readonly supported: boolean
}

/** Every country of ISO 3166-1, in order of their codes. */
export const geography: readonly CountryFacts[] = countries.map((country) => {
  const market = marketOf(country.code)
  return {
    ...country,
    currencyExponent: currencyExponent(country.currency ?? '') ?? null,
    msisdnPattern: market?.msisdnPattern ?? null,
    msisdnExample: market?.msisdnExample ?? null,
    supported: market !== undefined,
  }
})

/** Currencies one can pay with in a country, its own first; none where we do not operate. */
export function paymentCurrencies(country: string): readonly string[] {
  const market = marketByCountry.get(country)
  return market ? [...new Set([market.currency, ...cardCurrencies])] : []
}

/** Every currency in which a book can exist, by name. */
export const bookCurrencies: readonly string[] = [
  ...new Set([...markets.map(({ currency }) => currency), ...cardCurrencies]),
].sort()
