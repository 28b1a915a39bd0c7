import type { LedgerEvents } from '../packages/domain/ledger/events.ts'
import type { PayoutEvents } from '../packages/domain/payouts/payout.ts'
import type { PayoutSettingsEvents } from '../packages/domain/payouts/settings.ts'
import type { RecordedEvent } from '../packages/kernel/projection.ts'
import { start, stop, timerHandlers } from './timers.ts'

/** Domain model 1.6: a hold that no payout has claimed by then is given back. */
const claimWithinMs = 5 * 60_000
/** Domain model 4: when an operator is first asked what became of a payout. */
const firstAskedMs = 30_000
/** Domain model 4: lateness is looked for every 15 s, so what is expected at once is not late at once. */
const lateAfterMs = 15_000

/** The hold names the payout, but only the book knows the currency. */
function claim(payout: string, currency: string): string {
  return `${payout}.${currency}`
}

type Events = PayoutEvents & PayoutSettingsEvents & Pick<LedgerEvents, 'HoldPlaced' | 'HoldVoided'>

export const payoutTimers = timerHandlers<Events>({
  HoldPlaced: (event) => {
    const { subject, currency, effectiveAt } = event.data
    if (subject.type !== 'payout') return []
    return [start('payout_unclaimed', claim(subject.id, currency), event, after(effectiveAt, claimWithinMs))]
  },
  HoldVoided: ({ data: { subject, currency } }) => {
    return subject.type === 'payout' ? [stop('payout_unclaimed', claim(subject.id, currency))] : []
  },
  PayoutRequested: (event) => {
    const { money, expectedBy } = event.data
    const check = after(event.metadata.at, lateAfterMs)
    const dueAt = expectedBy > check ? expectedBy : check
    const claimed = stop('payout_unclaimed', claim(event.id, money.currency))
    return [claimed, start('payout_late', event.id, event, dueAt)]
  },
  PayoutSent: (event) => [start('payout_status', event.id, event, after(event.metadata.at, firstAskedMs))],
  PayoutDelayed: ({ id }) => [stop('payout_late', id)],
  PayoutPaid: ({ id }) => ended(id),
  PayoutFailed: ({ id }) => ended(id),
  PayoutCanceled: ({ id }) => ended(id),

  PayoutSettingsRevised: scheduled,
  ScheduledPayoutRun: scheduled,
})

function scheduled(event: RecordedEvent<{ readonly nextRunAt: string | null }>) {
  const { nextRunAt } = event.data
  return [
    nextRunAt ? start('payout_schedule', event.id, event, nextRunAt) : stop('payout_schedule', event.id),
  ]
}

function ended(id: string) {
  return [stop('payout_late', id), stop('payout_status', id)]
}

function after(time: string, delayMs: number): string {
  return new Date(Date.parse(time) + delayMs).toISOString()
}
