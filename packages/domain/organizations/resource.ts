import { IdentityFilter } from '../../contract/lists/envelope.ts'
import { roles } from '../../contract/access/roles.ts'
import {
  base,
  choice,
  KnownCountry,
  literals,
  maybe,
  nameText,
  nullable,
  optional,
  record,
  Type,
  unixSeconds,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import type { Role } from '../../contract/access/callers.ts'
import { organizationTypes, type Organization } from './organization.ts'

const displayName = Type.String({ minLength: 1, maxLength: 128, description: 'As people see it' })

// Requests

export const OrganizationRequest = record({
  displayName: nameText(128, 'As people see it'),
  country: KnownCountry,
  type: choice(...organizationTypes),
  parentId: maybe({ ...IdentityFilter, description: 'The organization that it is a part of' }),
})

export const OrganizationSwitch = record({
  organizationId: optional({ ...IdentityFilter, description: 'The organization to work for; required' }),
  persist: optional(Type.Boolean({ default: false, description: 'Work for it after signing in too' })),
})

export const MerchantSwitch = record({
  merchantId: { ...IdentityFilter, description: 'The merchant to work for' },
})

export const PageOfOwn = record({
  limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 10, description: 'Items of a page' })),
  cursor: optional(Type.String({ maxLength: 64, description: '`next_cursor` of the page before' })),
})

// Resources

const Role = literals(...roles)
const current = Type.Boolean({ description: 'Whether the session works for it' })

export const OrganizationResource = record({
  ...base('organization'),
  display_name: displayName,
  country: Type.String(),
  type: literals(...organizationTypes),
  parent_id: nullable({ ...Uuid, description: 'The organization that it is a part of' }),
  merchant_id: { ...Uuid, description: 'The one merchant that it owns' },
  role: { ...Role, description: 'What the user is there' },
  current,
})

export const MembershipResource = record({
  object: literals('membership'),
  merchant_id: Uuid,
  merchant_name: Type.String({ description: 'Name of the merchant' }),
  organization_id: nullable({ ...Uuid, description: 'The organization that owns it' }),
  role: { ...Role, description: 'What the user is there' },
  current,
})

export interface Standing {
  readonly role: Role
  readonly current: boolean
}

export function viewOrganization(
  id: string,
  state: Extract<Organization, { status: 'active' }>,
  standing: Standing,
): Static<typeof OrganizationResource> {
  const { displayName: display_name, country, type, parent, merchant, createdAt } = state
  return {
    id,
    object: 'organization',
    livemode: false,
    created: unixSeconds(createdAt),
    display_name,
    country,
    type,
    parent_id: parent,
    merchant_id: merchant,
    ...standing,
  }
}
