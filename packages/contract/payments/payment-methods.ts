import { cardCurrencies, cashlessLimitsOf, marketOf, type Limits, type Operator } from './catalog.ts'
import { refuseField } from '../refusals.ts'
import { choice, literals, Type } from '../vocabulary.ts'

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

export interface PaymentMarket {
  readonly country: string
  readonly currency: string
}

/** Operators that collect this total in a country; null: the payer chooses the amount. */
export function collectorsIn(
  { country, currency }: PaymentMarket,
  totalMinor: number | null,
): readonly Operator[] {
  const known = marketOf(country)?.operators ?? []
  return known.filter(
    (one) => one.currency === currency && one.directions.includes('pay_in') && moves(one, totalMinor),
  )
}

function moves({ minimumMinor, maximumMinor }: Limits, totalMinor: number | null): boolean {
  return totalMinor === null || (totalMinor >= minimumMinor && totalMinor <= maximumMinor)
}

/** Whether anybody could pay this total by this method. */
export function isPayableBy(type: MethodType, market: PaymentMarket, totalMinor: number | null): boolean {
  if (type === 'mobile_money') return collectorsIn(market, totalMinor).length > 0
  return cardCurrencies.includes(market.currency) && moves(cashlessLimitsOf(market.currency), totalMinor)
}

/** The methods that a payer is offered: those asked for, which must be possible, else all that are. */
export function offeredMethods(
  isPossible: (type: MethodType) => boolean,
  asked: readonly MethodType[] | null | undefined,
): MethodType[] {
  const possible = methodTypes.filter(isPossible)
  const other = asked?.findIndex((type) => !possible.includes(type)) ?? -1
  if (asked && other >= 0) {
    const message = `${asked[other]} cannot pay this; ${oneOf(possible)}`
    refuseField('method_must_be_offered', `/paymentMethodTypes/${other}`, message)
  }
  return possible.filter((type) => asked?.includes(type) ?? true)
}

function oneOf(possible: readonly MethodType[]): string {
  return possible.length === 0 ? 'nothing can' : `one of ${possible.join(', ')}`
}
