import type { RecordedEvent } from '../../kernel/projection.ts'
import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import { claimed } from '../ledger/timers.ts'
import type { PayoutEvents } from './events.ts'
import type { PayoutSettingsEvents } from './settings.ts'

/** Domain model 4: when an operator is first asked for a payout's result. */
const firstAskedMs = 30_000
/** Domain model 4: lateness is checked every 15 s, so a payout expected at once is not late at once. */
const lateAfterMs = 15_000

export const payoutTimers = timerHandlers<PayoutEvents & PayoutSettingsEvents>({
  PayoutRequested: (event) => {
    const { money, expectedBy } = event.data
    const check = after(event.metadata.at, lateAfterMs)
    const dueAt = expectedBy > check ? expectedBy : check
    return [claimed(event.id, money.currency), start('payout_late', event.id, event, dueAt)]
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
