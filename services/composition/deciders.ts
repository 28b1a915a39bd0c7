import { apiKey } from '../../packages/domain/api-keys/api-key.ts'
import { customer } from '../../packages/domain/customers/customer.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { payoutDestination } from '../../packages/domain/payouts/destination.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import { payoutSettings } from '../../packages/domain/payouts/settings.ts'
import { refund } from '../../packages/domain/refunds/refund.ts'
import { webhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { webhookReplay } from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import { webhookRoster } from '../../packages/domain/webhook-endpoints/webhook-roster.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'

/** Every kind of stream. */
export const deciders: readonly AnyDecider[] = [
  apiKey,
  book,
  customer,
  merchant,
  paymentIntent,
  payout,
  payoutDestination,
  payoutSettings,
  refund,
  webhookEndpoint,
  webhookReplay,
  webhookRoster,
]
