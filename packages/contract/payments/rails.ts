import type { PaymentRails, RailChoice, RailRoute } from '../../kernel/ports/rails.ts'
import { refuse } from '../refusals.ts'
import type { Operator } from './catalog.ts'
import { collectorsIn, isPayableBy, type MethodType, type PaymentMarket } from './payment-methods.ts'

/** What a rail is chosen by. */
export function choiceOf({ livemode, method }: RailRoute): RailChoice {
  const { type } = method
  if (type !== 'mobile_money') return { livemode, method: type }
  return { livemode, method: type, country: method.country, operator: method.operator }
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

/** Refuses what no rail would carry out. The sandbox has a rail for everything. */
export function requireRail(rails: Rails, choice: RailChoice): void {
  if (!rails.serves(choice)) refuse('live_provider_must_be_configured')
}
