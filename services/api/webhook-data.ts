import type { WebhookData } from '../../packages/contract/openapi/webhooks.ts'
import {
  LowerCurrency,
  nullable,
  record,
  SignedMinor,
  Type,
  type TObject,
} from '../../packages/contract/vocabulary.ts'
import { BalanceResource } from '../../packages/domain/balances/balance.ts'
import { CustomerResource } from '../../packages/domain/customers/resource.ts'
import { PaymentIntentResource } from '../../packages/domain/payment-intents/resource.ts'
import { PayoutDestinationResource, PayoutWebhook } from '../../packages/domain/payouts/resource.ts'
import { RefundResource } from '../../packages/domain/refunds/resource.ts'
import { WebhookEndpointResource } from '../../packages/domain/webhook-endpoints/resource.ts'

/** Spec, Webhook event: in the data of a webhook the currency is in lower case. */
function lowered({ properties }: TObject): TObject {
  return record({ ...properties, currency: LowerCurrency })
}

const paymentIntent = lowered(PaymentIntentResource)
const payoutDestination = record({
  ...PayoutDestinationResource.properties,
  currency: nullable(LowerCurrency),
})

const amounts = Type.Array(record({ amount: SignedMinor, currency: LowerCurrency }))
const balance = record({
  ...BalanceResource.properties,
  available: amounts,
  pending: amounts,
  reserved: amounts,
})

/** The resource that each public event carries. Domain model 6. */
export const webhookData: WebhookData = {
  'payment_intent.created': paymentIntent,
  'payment_intent.processing': paymentIntent,
  'payment_intent.requires_action': paymentIntent,
  'payment_intent.succeeded': paymentIntent,
  'payment_intent.payment_failed': paymentIntent,
  'payment_intent.canceled': paymentIntent,
  'payout.created': PayoutWebhook,
  'payout.in_transit': PayoutWebhook,
  'payout.delayed': PayoutWebhook,
  'payout.paid': PayoutWebhook,
  'payout.failed': PayoutWebhook,
  'payout.canceled': PayoutWebhook,
  'payout_destination.created': payoutDestination,
  'payout_destination.deleted': payoutDestination,
  'refund.created': RefundResource,
  'refund.succeeded': RefundResource,
  'refund.failed': RefundResource,
  'balance.available': balance,
  'customer.created': lowered(CustomerResource),
  'webhook_endpoint.failing': WebhookEndpointResource,
  'webhook_endpoint.disabled': WebhookEndpointResource,
  'webhook_endpoint.recovered': WebhookEndpointResource,
}
