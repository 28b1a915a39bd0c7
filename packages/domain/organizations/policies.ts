import type { OrganizationOwner } from '../../kernel/owner.ts'
import { policy, to, type PolicyCommand } from '../../kernel/policy.ts'
import { merchant as merchants } from '../merchants/merchant.ts'
import type { OrganizationEvents } from './organization.ts'

type Created = OrganizationEvents['OrganizationCreated']

/** The merchant that an organization founded by a user gets, which that user owns. */
export function merchantOf(organization: string, created: Created): PolicyCommand | undefined {
  const { displayName: name, country, merchant: id, founder } = created
  if (founder === null) return undefined
  const { user: owner, email, currency } = founder
  const data = { name, country, currency, email, organization, owner }
  return to(merchants, id, { type: 'CreateMerchant', data })
}

export const createMerchant = policy<OrganizationEvents, OrganizationOwner>(
  'create the merchant of an organization',
  { OrganizationCreated: ({ id, data }) => [merchantOf(id, data)].filter((order) => order !== undefined) },
  ({ data }) => ({ merchant: data.merchant, livemode: false }),
)
