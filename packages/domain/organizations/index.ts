import type { Family } from '../../contract/family.ts'
import { organization } from './organization.ts'
import { createMerchant } from './policies.ts'

export const organizations: Family = {
  name: 'organizations',
  missing: { organization: 'organization_must_exist' },
  scopes: ['organizations.write'],
  streams: [organization],
  policies: [createMerchant],
}
