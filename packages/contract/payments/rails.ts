import type { PaymentRails, RailChoice, RailRoute } from '../../kernel/ports/rails.ts'
import { refuse } from '../refusals.ts'

/** What a rail is chosen by. */
export function choiceOf({ livemode, method }: RailRoute): RailChoice {
  const { type } = method
  if (type !== 'mobile_money') return { livemode, method: type }
  return { livemode, method: type, country: method.country, operator: method.operator }
}

/** Refuses what no rail would carry out. The sandbox has a rail for everything. */
export function requireRail(rails: Pick<PaymentRails, 'serves'>, choice: RailChoice): void {
  if (!rails.serves(choice)) refuse('live_provider_must_be_configured')
}
