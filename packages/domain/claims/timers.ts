import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { ClaimEvents } from './claim.ts'

export const claimTimers = timerHandlers<ClaimEvents>({
  ClaimHeld: (event) => [start('claim_held', event.id, event, event.data.until)],
  ClaimKept: ({ id }) => [stop('claim_held', id)],
  ClaimFreed: ({ id }) => [stop('claim_held', id)],
})
