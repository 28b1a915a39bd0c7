/**
 * Public events and what they mean. Domain model 6; types which the specification does not name are inferred.
 */
export const webhookTypes = {
  'payment_intent.created': 'A payment intent was created.',
  'payment_intent.processing': 'The operator has asked the payer to approve the payment.',
  'payment_intent.requires_action': 'The payer has to go on in a browser.',
  'payment_intent.succeeded': 'The payer has paid.',
  'payment_intent.payment_failed': 'The payment failed; paying again takes a new intent.',
  'payment_intent.canceled': 'The payment intent was canceled before it was paid.',
  'payout.created': 'A payout was requested and its amount is held.',
  'payout.in_transit': 'The payout was handed to the operator or the bank.',
  'payout.delayed': 'The payout is later than expected and still on its way.',
  'payout.paid': 'The beneficiary has the money.',
  'payout.failed': 'The payout failed, or its money came back (`failure_code` returned).',
  'payout.canceled': 'The payout was canceled before it was sent.',
  'payout_destination.created': 'A destination for payouts was saved.',
  'payout_destination.deleted': 'A saved destination was removed.',
  'refund.created': 'A refund was requested and its amount is held.',
  'refund.succeeded': 'The payer has the money back.',
  'refund.failed': 'The refund failed and its amount is available again.',
  'balance.available': 'Money has become available in the balance.',
  'customer.created': 'A customer was created.',
  'webhook_endpoint.failing': 'Another endpoint was marked as failing, because its last retry failed.',
  'webhook_endpoint.disabled': 'Another endpoint was turned off, because it answered 410.',
  'webhook_endpoint.recovered': 'Another endpoint that was failing has taken a delivery.',
} as const satisfies Record<string, string>

export type WebhookType = keyof typeof webhookTypes

/** All that an endpoint may be enabled for: everything, all types of one resource (`payout.*`), one type. */
export const webhookTypePatterns: readonly string[] = [
  '*',
  ...new Set(Object.keys(webhookTypes).map((type) => `${resourceOf(type)}.*`)),
  ...Object.keys(webhookTypes),
]

/** Whether an endpoint with these enabled events gets events of that type. */
export function matches(enabledEvents: readonly string[], type: string): boolean {
  const patterns = ['*', `${resourceOf(type)}.*`, type]
  return enabledEvents.some((enabled) => patterns.includes(enabled))
}

/** `payout.paid` is of `payout`. */
function resourceOf(type: string): string {
  return type.slice(0, type.indexOf('.'))
}
