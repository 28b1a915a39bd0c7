import type { LedgerEvents } from './events.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { start, stop, timerHandlers } from '../../kernel/timer.ts'

/** Domain model 1.6: held money that nothing has claimed by then is given back. */
export const claimWithinMs = 5 * 60_000

const kind = 'hold_unclaimed'

/** A stream that claims a hold says so in its own events, which end the wait. */
export function claimed(holdId: string, currency: string) {
  return stop(kind, `${holdId}.${currency}`)
}

export const holdTimers = timerHandlers<Pick<LedgerEvents, 'HoldPlaced' | 'HoldPosted' | 'HoldVoided'>>({
  HoldPlaced: (event) => {
    const { holdId, currency, effectiveAt } = event.data
    const dueAt = new Date(Date.parse(effectiveAt) + claimWithinMs)
    return [start(kind, `${holdId}.${currency}`, event, dueAt)]
  },
  HoldPosted: ended,
  HoldVoided: ended,
})

function ended({ data: { holdId, currency } }: RecordedEvent<LedgerEvents['HoldPosted' | 'HoldVoided']>) {
  return [claimed(holdId, currency)]
}
