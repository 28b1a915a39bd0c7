import type { PaymentRails, RailChoice, RailRoute } from '../../kernel/ports/rails.ts'
import { spelledAmount } from '../locale/money-text.ts'
import { refuse, refuseField } from '../refusals.ts'
import { operatorIn, type Operator } from './catalog.ts'
import {
  collectorsIn,
  isPayableBy,
  methodTypes,
  type MethodType,
  type PaymentMarket,
} from './payment-methods.ts'

/** What a rail is chosen by, whatever the operator is called. */
export function choiceOf({ livemode, method }: RailRoute): RailChoice {
  const { type } = method
  if (type !== 'mobile_money') return { livemode, method: type }
  const { country, operator: name } = method
  return { livemode, method: type, country, operator: operatorIn(country, name)?.code ?? name }
}

type Rails = Pick<PaymentRails, 'serves'>

/** Where somebody is to pay. */
export interface ServedMarket extends PaymentMarket {
  readonly livemode: boolean
}

/** Operators that collect this total and to which there is a rail; null: the payer chooses the amount. */
export function servedCollectors(
  rails: Rails,
  market: ServedMarket,
  totalMinor: number | null,
): readonly Operator[] {
  const { livemode } = market
  return collectorsIn(market, totalMinor).filter(({ country, code: operator }) =>
    rails.serves({ livemode, method: 'mobile_money', country, operator }),
  )
}

/** Whether anybody could pay this total by this method, and a rail would carry it out. */
export function isServedBy(
  rails: Rails,
  type: MethodType,
  market: ServedMarket,
  totalMinor: number | null,
): boolean {
  if (type === 'mobile_money') return servedCollectors(rails, market, totalMinor).length > 0
  return isPayableBy(type, market, totalMinor) && rails.serves({ livemode: market.livemode, method: type })
}

interface Wanted {
  readonly amountMinor: number
  /** Of the amount in the request. */
  readonly pointer: string
}

/** Refuses an amount that nobody can pay there; where another could be paid, the amount is what is wrong. */
export function requirePayable(rails: Rails, market: ServedMarket, { amountMinor, pointer }: Wanted): void {
  const isServed = (minor: number | null) =>
    methodTypes.some((type) => isServedBy(rails, type, market, minor))
  if (isServed(amountMinor)) return
  const isPayable = methodTypes.some((type) => isPayableBy(type, market, amountMinor))
  if (isPayable && !isServed(null)) refuse('live_provider_must_be_configured')
  const sum = `${spelledAmount(amountMinor)} ${market.currency}`
  refuseField('payment_must_be_eligible', pointer, `Nobody can pay ${sum} in ${market.country}`)
}

/** Refuses what no rail would carry out. The sandbox has a rail for everything. */
export function requireRail(rails: Rails, choice: RailChoice): void {
  if (!rails.serves(choice)) refuse('live_provider_must_be_configured')
}
