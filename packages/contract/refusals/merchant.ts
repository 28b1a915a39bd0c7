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
  file_must_be_allowed: [400, 'IKW-ASSET-001', false, 'File type or size is not allowed'],
  merchant_must_keep_an_owner: [409, 'IKW-MERCHANT-005', false, 'A merchant must keep an owner'],
  user_must_not_be_a_member_yet: [409, 'IKW-RES-004', false, 'This person is a member of the team already'],
  member_must_not_outrank_the_caller: [403, 'IKW-AUTHZ-003', false, 'Only an owner may remove an owner'],
  invitations_must_not_be_too_many: [409, 'IKW-MERCHANT-006', false, 'Too many open invitations (100)'],
  invitation_must_be_open: [410, 'IKW-MERCHANT-004', false, 'Invitation has expired or was revoked'],
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
