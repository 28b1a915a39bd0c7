import type { Role } from '../../../../packages/contract/access/callers.ts'
import type { Dependencies, Request, Slice } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import { merchant, type Merchant } from '../../../../packages/domain/merchants/merchant.ts'
import type { MembershipResource } from '../../../../packages/domain/organizations/resource.ts'
import { equal } from '../../../../packages/kernel/ports/reads.ts'
import { memberships } from '../../../../projections/memberships.ts'
import { signedIn } from '../auth/user-accounts.ts'

const waitMs = 1_000

export interface Membership {
  readonly merchant: string
  readonly state: Exclude<Merchant, { status: 'none' }>
  readonly role: Role
}

interface ListedMembership extends Membership {
  /** Its place in the list. */
  readonly position: number
}

interface Wanted {
  readonly limit: number
  /** Only what comes after this place of the list. */
  readonly after?: number | undefined
}

/** Merchants that a user works for, the newest membership first, and what each of them says itself. */
export async function membershipsOf(
  { reads, store, executor }: Pick<Dependencies, 'reads' | 'store' | 'executor'>,
  user: string,
  { limit, after }: Wanted,
): Promise<readonly ListedMembership[]> {
  await reads.reached(await store.head(), waitMs, memberships.name)
  const { rows } = await reads.page<{ merchant: string; position: number }>({
    from: memberships.name,
    where: equal({ user }),
    bounds: after === undefined ? [] : [{ column: 'position', operator: '<', value: after }],
    order: 'position',
    limit,
  })
  const known = rows.map(async ({ merchant: id, position }) => {
    const found = await membershipIn({ executor }, user, id)
    return found && { ...found, position }
  })
  return (await Promise.all(known)).filter((one) => one !== undefined)
}

/** What a user is for a merchant at this moment; `undefined` for who is nothing there. */
export async function membershipIn(
  { executor }: Pick<Dependencies, 'executor'>,
  user: string,
  id: string | null,
): Promise<Membership | undefined> {
  if (id === null) return undefined
  return membershipOf(user, id, (await executor.current(merchant, id)).state)
}

/** What this process last saw of it, which may be over by now. */
export function lastMembershipIn(
  { executor }: Pick<Dependencies, 'executor'>,
  user: string,
  id: string | null,
): Membership | undefined {
  const state = id === null ? undefined : executor.lastSeen(merchant, id)
  return state && membershipOf(user, id!, state)
}

function membershipOf(user: string, id: string, state: Merchant): Membership | undefined {
  const role = state.status === 'none' ? undefined : state.members[user]
  return state.status === 'none' || role === undefined ? undefined : { merchant: id, state, role }
}

const shownMost = 100

export async function membershipItems(request: Request): Promise<Slice<Static<typeof MembershipResource>>> {
  const { user, merchant: works } = signedIn(request)
  const found = await membershipsOf(request.dependencies, user, { limit: shownMost })
  const data = found.map(({ merchant: id, state, role }) => ({
    object: 'membership' as const,
    merchant_id: id,
    merchant_name: state.name,
    organization_id: state.organization,
    role,
    current: id === works,
  }))
  return { data }
}
