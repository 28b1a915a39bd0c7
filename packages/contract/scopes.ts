/**
 * What a credential may be allowed to do. Spec, Authentication names the payout scopes; the others are
 * inferred in its form.
 */
export const scopes = [
  'payments.read',
  'payments.write',
  'payouts.read',
  'payouts.write',
  'refunds.write',
  'balance.read',
  'customers.read',
  'customers.write',
  'webhooks.read',
  'webhooks.write',
  'settings.read',
  'settings.write',
] as const

export type Scope = (typeof scopes)[number]
