import type { Change, RecordedEvent } from '../../kernel/projection.ts'
import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { PaymentLinkEvents } from './payment-link.ts'

export const paymentLinkTimers = timerHandlers<PaymentLinkEvents>({
  PaymentLinkCreated: expiry,
  PaymentLinkUseReturned: expiry,
  PaymentLinkUsed: ({ id, data }) => (data.isUsedUp ? [stop('payment_link_expiry', id)] : []),
  PaymentLinkDeactivated: ({ id }) => [stop('payment_link_expiry', id)],
  PaymentLinkExpired: ({ id }) => [stop('payment_link_expiry', id)],
})

function expiry(event: RecordedEvent<{ readonly expiresAt: string | null }>): readonly Change[] {
  const { expiresAt } = event.data
  return expiresAt === null ? [] : [start('payment_link_expiry', event.id, event, expiresAt)]
}
