/** Domain model 1.7: how billing refuses. Part of `refusals.ts`. */
export const billingRefusals = {
  unit_amount_must_have_a_currency: [400, 'IKW-REQ-001', false, 'unit_amount requires currency'],
  invoice_state_must_allow_it: [
    409,
    'IKW-BILLING-001',
    false,
    'Invoice cannot be paid or changed in this state',
  ],
  subscription_must_be_running: [409, 'IKW-BILLING-002', false, 'Subscription is not running'],
  billing_terms_must_fit: [
    400,
    'IKW-BILLING-003',
    false,
    'Plan, customer, amount or currency is missing or does not fit',
  ],
  wallet_must_cover_the_amount: [402, 'IKW-BILLING-006', false, 'Wallet does not cover the amount'],
  plan_must_be_usage_based: [400, 'IKW-BILLING-005', false, 'Plan is not usage based'],
  portal_token_must_be_valid: [401, 'IKW-PORTAL-001', false, 'Portal token is not valid or expired'],
  portal_must_allow_it: [403, 'IKW-PORTAL-002', false, 'Portal session does not allow this'],
} as const
