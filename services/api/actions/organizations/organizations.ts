import { countryOf } from '../../../../packages/contract/locale/countries.ts'
import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import { scopesOfRole } from '../../../../packages/contract/access/roles.ts'
import type { Request, Slice } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import { organization, type Organization } from '../../../../packages/domain/organizations/organization.ts'
import { merchantOf } from '../../../../packages/domain/organizations/policies.ts'
import {
  viewOrganization,
  type OrganizationRequest,
  type OrganizationResource,
  type OrganizationSwitch,
  type PageOfOwn,
} from '../../../../packages/domain/organizations/resource.ts'
import { user as users } from '../../../../packages/domain/users/user.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { cursorAt, placeOf } from '../../kinds/cursors.ts'
import { membershipIn, membershipsOf, type Membership } from './memberships.ts'
import { switchTo } from './switching.ts'
import { knownUser, signedIn } from '../auth/user-accounts.ts'

type Shown = Static<typeof OrganizationResource>
type Active = Extract<Organization, { status: 'active' }>

const usualCurrency = 'XOF'

/** Its merchant is created with it, at once and by a policy: whichever comes first. */
export async function createOrganization(
  request: Request<Static<typeof OrganizationRequest>>,
): Promise<Shown> {
  const { dependencies, body, envelope, id } = request
  const { user } = signedIn(request)
  const { displayName, country, type, parentId: parent = null } = body
  if (parent !== null) await requireParent(request, parent)
  const { email } = await knownUser(dependencies, user)
  const currency = countryOf(country)?.currency ?? usualCurrency
  const founder = { user, email, currency }
  const data = { displayName, country, type, parent, merchant: dependencies.newId(), founder }
  const { executor } = dependencies
  const own = actingFor({ organization: id }, envelope)
  const { state } = await executor.send(organization, id, { type: 'CreateOrganization', data }, own)
  const created = state as Active
  const { decider, id: merchant, command } = merchantOf(id, created)!
  const acting = actingFor({ merchant, livemode: false }, envelope)
  const { position } = await executor.sendAll(decider, merchant, [{ command, envelope: acting }])
  request.showed(position)
  return viewOrganization(id, created, { role: 'owner', current: false })
}

/** Only who may make organizations there makes parts of one; of any other nothing is told. */
async function requireParent(request: Request<unknown>, id: string): Promise<void> {
  const found = await ownOrganization(request, id)
  const mayWrite = found && scopesOfRole(found.role).includes('organizations.write')
  if (!mayWrite) refuse('organization_must_exist', { detail: `No organization ${id}` })
}

interface Found {
  readonly state: Active
  readonly role: Membership['role']
}

/** `undefined` for one that the user does not belong to. */
async function ownOrganization(request: Request<unknown>, id: string): Promise<Found | undefined> {
  const { executor } = request.dependencies
  const { state } = await executor.current(organization, id)
  if (state.status === 'none') return undefined
  const member = await membershipIn({ executor }, signedIn(request).user, state.merchant)
  return member && { state, role: member.role }
}

export async function showOrganization(request: Request): Promise<Shown> {
  const id = request.params['id']!
  const { state, role } = (await ownOrganization(request, id)) ?? refuse('resource_must_exist')
  return viewOrganization(id, state, { role, current: signedIn(request).organization === id })
}

export async function currentOrganization(request: Request): Promise<Shown> {
  const { organization: id } = signedIn(request)
  const found = id === null ? undefined : await ownOrganization(request, id)
  if (id === null || !found) return refuse('organization_must_exist')
  return viewOrganization(id, found.state, { role: found.role, current: true })
}

const operation = 'GET /api/v1/organizations/mine'

export async function organizationItems(
  request: Request<undefined, Static<typeof PageOfOwn>>,
): Promise<Slice<Shown>> {
  const { dependencies, query } = request
  const { user, merchant } = signedIn(request)
  const limit = query.limit ?? 10
  const after = query.cursor === undefined ? undefined : placeOf(request, operation, query.cursor)
  const found = await membershipsOf(dependencies, user, { limit: limit + 1, after })
  const page = found.slice(0, limit)
  const shown = page.map(async ({ state: { organization: id }, merchant: owned, role }) => {
    const state = id === null ? undefined : await readState(dependencies.store, organization, id)
    if (id === null || state?.status !== 'active') return undefined
    return viewOrganization(id, state, { role, current: owned === merchant })
  })
  const data = (await Promise.all(shown)).filter((one) => one !== undefined)
  const hasMore = found.length > limit
  return { data, hasMore, next: hasMore ? cursorAt(request, operation, page.at(-1)!.position) : null }
}

export async function switchOrganization(request: Request<Static<typeof OrganizationSwitch>>) {
  const { organizationId, persist = false } = request.body
  const id =
    organizationId ?? refuseField('request_must_be_valid', '/organizationId', 'organizationId is required')
  const { state } = (await ownOrganization(request, id)) ?? refuse('organization_must_exist')
  if (persist) {
    const choose = { type: 'ChooseDefaultMerchant', data: { merchant: state.merchant } } as const
    await request.send(users, signedIn(request).user, choose, { isWhole: true })
  }
  return switchTo(request, state.merchant, 'organization_must_exist')
}
