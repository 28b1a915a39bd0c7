/** Refusals about merchants as a whole: organizations, teams, keys. */
export const merchantRefusals = {
  merchant_must_not_be_suspended: [403, 'IKW-MERCHANT-002', false, 'Merchant is suspended'],
  user_must_be_a_member: [403, 'IKW-MERCHANT-002', false, 'The user is not a member of this merchant'],
  live_must_be_open_to_the_merchant: [
    403,
    'IKW-MERCHANT-003',
    false,
    'Live is not open to this merchant yet',
  ],
  merchant_must_keep_an_owner: [409, 'IKW-MERCHANT-005', false, 'A merchant must keep an owner'],
  organization_must_exist: [404, 'IKW-ORG-001', false, 'Organization not found'],
  organization_must_have_the_parent_of_its_type: [
    400,
    'IKW-ORG-002',
    false,
    'A subsidiary, branch or franchise needs a parent; other organizations have none',
  ],
  merchant_must_exist: [404, 'IKW-MERCHANT-001', false, 'Merchant not found'],
  api_key_must_be_active: [
    409,
    'IKW-RES-002',
    false,
    'This key was rolled before, was revoked or has expired',
  ],
} as const
