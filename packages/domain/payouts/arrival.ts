import type { Context } from '../../kernel/decider.ts'
import type { Destination } from './destination-request.ts'

/** Spec, Limits: a mobile money payout is expected ten minutes after its creation. */
const mobileMoneyMs = 10 * 60_000
/** Inferred: a bank takes a day; the simulated one pays at once. */
const bankMs = 24 * 3_600_000

/** When a payout requested now should have arrived; afterwards it is late. */
export function expectedBy({ type }: Destination, { livemode, now }: Context): string {
  const bank = livemode ? bankMs : 0
  return new Date(now.getTime() + (type === 'mobile_money' ? mobileMoneyMs : bank)).toISOString()
}
