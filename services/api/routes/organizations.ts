import { listItems, perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  merchantSwitchExamples,
  organizationExamples,
  organizationSwitchExamples,
} from '../../../packages/domain/organizations/examples.ts'
import {
  MembershipResource,
  MerchantSwitch,
  OrganizationRequest,
  OrganizationResource,
  OrganizationSwitch,
  PageOfOwn,
} from '../../../packages/domain/organizations/resource.ts'
import { AuthSessionResource } from '../../../packages/domain/users/resource.ts'
import { membershipItems } from '../actions/organizations/memberships.ts'
import {
  createOrganization,
  currentOrganization,
  organizationItems,
  showOrganization,
  switchOrganization,
} from '../actions/organizations/organizations.ts'
import { switchMerchant } from '../actions/organizations/switching.ts'

const own = { scope: 'own', credentials: ['user'], owner: 'user' } as const
const switches = { ...own, returns: AuthSessionResource, showsSecret: true } as const

const rows = [
  perform('POST /api/v1/organizations', {
    scope: 'organizations.write',
    credentials: ['user'],
    environment: 'either',
    isForNonMembers: true,
    summary: 'Create an organization with its merchant; a part of another one names its parent',
    body: OrganizationRequest,
    examples: organizationExamples,
    status: 201,
    returns: OrganizationResource,
    refusals: ['organization_must_have_the_parent_of_its_type', 'organization_must_exist'],
    action: createOrganization,
  }),

  perform('GET /api/v1/organizations/current', {
    ...own,
    summary: 'The organization that the session works for',
    returns: OrganizationResource,
    refusals: ['organization_must_exist'],
    action: currentOrganization,
  }),

  listItems('GET /api/v1/organizations/mine', {
    ...own,
    summary: 'Organizations that the user belongs to, the newest membership first',
    query: PageOfOwn,
    returns: OrganizationResource,
    items: organizationItems,
  }),

  perform('GET /api/v1/organizations/{id}', {
    ...own,
    summary: 'One organization that the user belongs to',
    inferred: true,
    params: { id: 'organization' },
    returns: OrganizationResource,
    refusals: ['organization_must_exist'],
    action: showOrganization,
  }),

  perform('POST /api/v1/organizations/switch', {
    ...switches,
    summary: 'Work for another organization; older access tokens of this session stop working',
    body: OrganizationSwitch,
    examples: organizationSwitchExamples,
    refusals: ['organization_must_exist'],
    action: switchOrganization,
  }),

  listItems('GET /api/v1/auth/merchants', {
    ...own,
    summary: 'Merchants that the user may work for, at most a hundred',
    returns: MembershipResource,
    items: membershipItems,
  }),

  perform('POST /api/v1/auth/switch-merchant', {
    ...switches,
    summary: 'Work for another merchant; older access tokens of this session stop working',
    body: MerchantSwitch,
    examples: merchantSwitchExamples,
    refusals: ['merchant_must_exist'],
    action: switchMerchant,
  }),
]

export const organizationRoutes = section(
  'Organizations',
  'Each organization owns one merchant. A user may belong to several, and a session works for one at a time.',
  rows,
)
