import { cashlessLimitsOf, operatorIn } from '../../contract/payments/catalog.ts'
import { Refusal } from '../../contract/refusals.ts'
import type { PayoutSettings } from './settings.ts'
import { agreeTerms, type Terms, type Wanted } from './terms.ts'

/**
 * Domain model 5.1: a scheduled payout takes what is available above the minimum balance, up to the
 * operator's limit. `undefined` when that is too little for a payout.
 */
export function agreeScheduled(
  kept: number,
  wanted: Omit<Wanted, 'amount'> & { readonly available: number },
  now: Date,
): Terms | undefined {
  const spendable = wanted.available - kept
  const most = Math.min(spendable, greatest(wanted))
  if (most <= 0) return undefined
  try {
    // A smaller amount never has a higher fee, so the fee of the maximum leaves enough for its own.
    const { fee } = agreeTerms({ ...wanted, amount: most }, now).money
    const amount = Math.min(most, spendable - fee)
    return amount > 0 ? agreeTerms({ ...wanted, amount }, now) : undefined
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

/** What must stay on the balance in this currency. A minimum without a currency is in the merchant's own. */
export function keptMinimum(
  { keepMinimumBalance, minimumBalance, minimumBalanceCurrency }: PayoutSettings,
  currency: string,
  own: string,
): number {
  const isMeant = keepMinimumBalance && (minimumBalanceCurrency ?? own) === currency
  return isMeant ? minimumBalance : 0
}

function greatest({ destination, currency }: Pick<Wanted, 'destination' | 'currency'>): number {
  if (destination.type === 'bank') return cashlessLimitsOf(currency).maximumMinor
  return operatorIn(destination.country, destination.operator)?.maximumMinor ?? 0
}
