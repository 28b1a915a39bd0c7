import { v7 } from 'uuid'
import { organization } from '../../packages/domain/organizations/organization.ts'
import { scenarios } from '../support/scenarios.ts'

const founder = { user: v7(), email: 'awa@example.com', currency: 'XOF' }
const founding = { displayName: 'Boutique Awa', country: 'CI', merchant: v7(), founder }
const create = (type: 'company' | 'branch', parent: string | null) => ({
  type: 'CreateOrganization' as const,
  data: { ...founding, type, parent },
})
const created = (type: 'company' | 'branch', parent: string | null) => ({
  type: 'OrganizationCreated' as const,
  data: { ...founding, type, parent },
})
const parent = v7()
const ofTheType = 'organization_must_have_the_parent_of_its_type'

scenarios(
  organization,
  {
    'a company stands by itself': { when: create('company', null), then: [created('company', null)] },
    'a company is no part of another one': { when: create('company', parent), then: ofTheType },
    'a branch is a part of another one': {
      when: create('branch', parent),
      then: [created('branch', parent)],
    },
    'a branch does not stand by itself': { when: create('branch', null), then: ofTheType },
  },
  { organization: v7() },
)
