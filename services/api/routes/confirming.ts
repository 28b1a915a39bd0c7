/** How starting a payment at its provider can be refused, whoever starts it. */
export const refusalsOfConfirming = [
  'payment_must_be_eligible',
  'payment_method_must_be_valid',
  'method_country_must_be_the_transactions',
  'confirmation_must_be_the_only_one',
  'provider_must_accept_the_payment',
  'live_provider_must_be_configured',
  'dependency_must_answer_in_time',
] as const
