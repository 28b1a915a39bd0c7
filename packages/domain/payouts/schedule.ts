import { operatorIn } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/refusals.ts'
import { amountMinorMax } from '../../contract/vocabulary.ts'
import type { Frequency, PayoutSettings } from './settings.ts'
import { agreeTerms, type Terms, type Wanted } from './terms.ts'

type Scheduled = Exclude<Frequency, 'manual'>

/** Domain model 5.1: scheduled payouts leave at this hour, UTC. */
const payoutHour = 6

/** Inferred: a week's payout leaves on Monday, a month's on the first. */
const isPayoutDay: Readonly<Record<Scheduled, (day: Date) => boolean>> = {
  daily: () => true,
  weekly: (day) => day.getUTCDay() === 1,
  monthly: (day) => day.getUTCDate() === 1,
}

/** When the next scheduled payout leaves after that time. */
export function nextPayoutDay(frequency: Scheduled, after: Date): Date {
  const day = new Date(Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), after.getUTCDate(), payoutHour))
  while (day <= after || !isPayoutDay[frequency](day)) day.setUTCDate(day.getUTCDate() + 1)
  return day
}

/**
 * Domain model 5.1: a scheduled payout takes what is available above the minimum balance, as far as the
 * operator moves that much at once. `undefined` when that is too little for a payout.
 */
export function agreeScheduled(
  { minimumBalance, keepMinimumBalance }: PayoutSettings,
  wanted: Omit<Wanted, 'amount'> & { readonly available: number },
  now: Date,
): Terms | undefined {
  const spendable = wanted.available - (keepMinimumBalance ? minimumBalance : 0)
  const most = Math.min(spendable, greatest(wanted))
  if (most <= 0) return undefined
  try {
    // A smaller amount never costs a higher fee, so the fee of the most leaves enough for its own.
    const { fee } = agreeTerms({ ...wanted, amount: most }, now).money
    const amount = Math.min(most, spendable - fee)
    return amount > 0 ? agreeTerms({ ...wanted, amount }, now) : undefined
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

function greatest({ destination }: Pick<Wanted, 'destination'>): number {
  if (destination.type === 'bank') return amountMinorMax
  return operatorIn(destination.country, destination.operator)?.maximumMinor ?? 0
}
