import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { unixSeconds, type Static } from '../../../../packages/contract/vocabulary.ts'
import {
  invitation,
  invitationName,
  statusOf,
  type ExistingInvitation,
  type Invitation,
} from '../../../../packages/domain/invitations/invitation.ts'
import {
  viewInvitation,
  type InvitationRequest,
  type MemberResource,
  type TeamQuery,
  type TeamResource,
} from '../../../../packages/domain/invitations/resource.ts'
import { isBacked, merchant, type Merchant } from '../../../../packages/domain/merchants/merchant.ts'
import { userSessions } from '../../../../packages/domain/sessions/user-sessions.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { erasedText } from '../../../../packages/kernel/personal.ts'
import { user as users } from '../../../../packages/domain/users/user.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { owns } from '../../../../packages/kernel/owner.ts'
import { equal } from '../../../../packages/kernel/ports/reads.ts'
import { invitations } from '../../../../projections/invitations.ts'
import { countInvitation } from '../auth/sign-in-guards.ts'
import { knownUser, signedIn, userOf } from '../auth/user-accounts.ts'

type Member = Static<typeof MemberResource>
type Existing = Exclude<Merchant, { status: 'none' }>

/** Inferred: whoever needs more adds people one after the other. */
const openMost = 100
const waitMs = 1_000

// Members and open invitations, the newest first

export async function showTeam(
  request: Request<undefined, Static<typeof TeamQuery>>,
): Promise<Static<typeof TeamResource>> {
  const { dependencies, query, path } = request
  const { page = 1, limit = 20 } = query
  const own = await ownMerchant(request)
  const { members, joined } = own
  const people = Object.entries(members).map(([user, role]) => ({ user, role, at: joined[user]! }))
  const open = (await openInvitations(request, own)).map((invited) => ({
    ...invited,
    at: invited.state.sentAt,
  }))
  const all = [...people, ...open].toSorted((one, other) => (one.at < other.at ? 1 : -1))
  const end = page * limit
  const shown = all.slice(end - limit, end).map(async (one): Promise<Member> => {
    if ('state' in one) return viewInvited(one.id, one.state)
    const { state: known } = await dependencies.executor.current(users, one.user)
    const { email, name } = known.status === 'active' ? known : left
    return { ...viewMember(one.user, one.at), email, name, role: one.role, user_id: one.user }
  })
  return {
    object: 'list',
    url: path,
    data: await Promise.all(shown),
    has_more: end < all.length,
    next_cursor: null,
    page,
    limit,
    total_count: all.length,
  }
}

/** Whoever has left is still the owner of a merchant that has no other one. */
const left = { email: erasedText, name: null }

function viewMember(id: string, at: string) {
  const created = unixSeconds(at)
  return { id, object: 'member', livemode: false, created, status: 'active', joined_at: at } as const
}

function viewInvited(id: string, { email, name, role, sentAt }: ExistingInvitation): Member {
  const invited = { status: 'invited', joined_at: null, user_id: null } as const
  return { ...viewMember(id, sentAt), ...invited, email, name, role }
}

async function ownMerchant({ dependencies, caller }: Request<unknown>): Promise<Existing> {
  const state = await readState(dependencies.store, merchant, caller.merchant)
  return state.status === 'none' ? refuse('resource_must_exist') : state
}

interface Open {
  readonly id: string
  /** Its place in the list. */
  readonly created: number
  readonly state: ExistingInvitation
}

/** Of whoever may still invite: no other one lets anybody in. */
async function openInvitations(
  { dependencies, caller }: Request<unknown>,
  own: Existing,
): Promise<readonly Open[]> {
  const { reads, store, clock } = dependencies
  await reads.reached(await store.head(), waitMs, invitations.name)
  const isOpen = ({ state }: Open) => statusOf(state, clock()) === 'pending' && isBacked(own, state)
  // Those of who has gone are pending until they expire, and may be as many again.
  const open: Open[] = []
  for (let last: number | undefined; ;) {
    const { rows } = await reads.page<Open>({
      from: invitations.name,
      where: equal({ merchant: caller.merchant, status: 'pending' }),
      bounds: last === undefined ? [] : [{ column: 'created', operator: '<', value: last }],
      order: 'created',
      limit: openMost,
    })
    open.push(...rows.filter(isOpen))
    last = rows.at(-1)?.created
    if (rows.length < openMost) return open
  }
}

// Inviting

/** An address has one invitation of a merchant: its id follows from both. */
export async function invite(request: Request<Static<typeof InvitationRequest>>) {
  const { dependencies, body, caller, id: link } = request
  const { email, role, name = null } = body
  const { user: by } = signedIn(request)
  // Mails go to whom it names: nobody sends any whom no mail has reached.
  const inviter = await knownUser(dependencies, by)
  if (!inviter.emailVerified) refuse('email_must_be_verified')
  const own = await ownMerchant(request)
  const invited = await userOf(dependencies, email)
  if (invited && invited.id in own.members) refuse('user_must_not_be_a_member_yet')
  const id = await dependencies.blindIndex(invitationName(caller.merchant, email))
  const open = await openInvitations(request, own)
  if (open.length >= openMost && !open.some((one) => one.id === id))
    refuse('invitations_must_not_be_too_many')
  const known = await readState(dependencies.store, invitation, id)
  if (known.status === 'none' || !known.links.includes(link)) await countInvitation(request, { email, by })
  const { language } = invited?.state ?? inviter
  const data = { link, email, name, role, language, by, isLimited: dependencies.limitsCounts }
  const { state } = await request.send(invitation, id, { type: 'Invite', data }, { isWhole: true })
  return viewInvitation(id, state, dependencies.clock())!
}

/** Whether an invitation is open depends on when somebody looks, and on what the inviter is by then. */
export async function standingOf(
  { dependencies: { executor, clock } }: Pick<Request, 'dependencies'>,
  _id: string,
  state: Invitation,
) {
  const isOpen =
    state.status !== 'none' && isBacked((await executor.current(merchant, state.merchant)).state, state)
  return { now: clock(), isBacked: isOpen }
}

// Removing

/** A member, or an invitation that nobody has accepted. */
export async function removeFromTeam(request: Request) {
  const { params, owner, dependencies } = request
  const id = params['id']!
  const [first] = await dependencies.store.readStream(streamName(invitation.category, id), 0, 1)
  if (first && owns(owner, first.metadata))
    await request.send(invitation, id, { type: 'RevokeInvitation', data: {} }, { isWhole: true })
  else await removeMember(request, id)
  return { id, object: 'member' as const, deleted: true as const }
}

async function removeMember(request: Request, user: string): Promise<void> {
  const { caller, dependencies, envelope } = request
  const { members } = await ownMerchant(request)
  if (members[user] === 'owner' && signedIn(request).role !== 'owner')
    refuse('member_must_not_outrank_the_caller')
  const remove = { type: 'RemoveMember', data: { user } } as const
  await request.send(merchant, caller.merchant, remove, { isWhole: true })
  // What the policy does a moment later, so that nobody goes on in between.
  const end = { type: 'EndSessionsOfMerchant', data: { merchant: caller.merchant } } as const
  await dependencies.executor.send(userSessions, user, end, actingFor({ user }, envelope))
}
