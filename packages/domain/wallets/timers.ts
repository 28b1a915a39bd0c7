import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { WalletTopupEvents } from './topup.ts'

/** Inferred: as long as a checkout session. */
const openMs = 24 * 3_600_000

export const walletTimers = timerHandlers<WalletTopupEvents>({
  WalletTopupRequested: (event) => {
    const end = new Date(Date.parse(event.metadata.at) + openMs)
    return [start('topup_expiry', event.id, event, end)]
  },
  WalletTopupCompleted: ({ id }) => [stop('topup_expiry', id)],
  WalletTopupFailed: ({ id }) => [stop('topup_expiry', id)],
})
