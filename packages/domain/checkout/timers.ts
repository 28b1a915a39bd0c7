import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { CheckoutSessionEvents } from './checkout-session.ts'

export const checkoutTimers = timerHandlers<CheckoutSessionEvents>({
  CheckoutSessionOpened: (event) => [start('checkout_expiry', event.id, event, event.data.expiresAt)],
  CheckoutSessionCompleted: ({ id }) => [stop('checkout_expiry', id)],
  CheckoutSessionCanceled: ({ id }) => [stop('checkout_expiry', id)],
  CheckoutSessionExpired: ({ id }) => [stop('checkout_expiry', id)],
})
