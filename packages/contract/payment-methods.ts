import { cardCurrencies, marketOf, type Operator } from './catalog.ts'
import { refuseField } from './refusals.ts'
import { choice, literals, Type } from './vocabulary.ts'

/** What payers can be offered. Inferred: the specification does not enumerate them. */
export const methodTypes = ['mobile_money', 'card'] as const
export type MethodType = (typeof methodTypes)[number]

export const feeModes = ['merchant_pays', 'customer_pays'] as const

/** Methods as they are stored and shown. */
export const MethodTypes = Type.Array(literals(...methodTypes), { minItems: 1, uniqueItems: true })

/** Methods as they are asked for. */
export const GivenMethodTypes = Type.Array(choice(...methodTypes), {
  minItems: 1,
  maxItems: methodTypes.length,
  uniqueItems: true,
  description: 'How the payer may pay; left out, in every way that this country and currency have',
})

/** Operators that collect a currency in a country. */
export function collectorsIn(country: string, currency: string): readonly Operator[] {
  const known = marketOf(country)?.operators ?? []
  return known.filter((one) => one.currency === currency && one.directions.includes('pay_in'))
}

/** The methods that a payer is offered: those asked for, which must exist there, else all. */
export function offeredMethods(
  { country, currency }: { readonly country: string; readonly currency: string },
  asked: readonly MethodType[] | null | undefined,
): MethodType[] {
  const possible = methodTypes.filter((type) =>
    type === 'card' ? cardCurrencies.includes(currency) : collectorsIn(country, currency).length > 0,
  )
  const other = asked?.findIndex((type) => !possible.includes(type)) ?? -1
  if (asked && other >= 0) {
    const message = `${asked[other]} does not pay ${currency} in ${country}; one of ${possible.join(', ')}`
    refuseField('method_must_be_offered', `/paymentMethodTypes/${other}`, message)
  }
  return possible.filter((type) => asked?.includes(type) ?? true)
}
