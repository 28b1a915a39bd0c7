import { refuse } from '../../../../packages/contract/refusals.ts'
import { scopesOfNonMembers, scopesOfRole } from '../../../../packages/contract/access/roles.ts'
import type { Client, Dependencies, Request } from '../../../../packages/contract/routes.ts'
import { unixSeconds, type Static } from '../../../../packages/contract/vocabulary.ts'
import { organization } from '../../../../packages/domain/organizations/organization.ts'
import {
  expiryOf,
  userSessions,
  type Place,
  type Session,
  type UserSessionEvents,
} from '../../../../packages/domain/sessions/user-sessions.ts'
import type { AuthSessionResource } from '../../../../packages/domain/users/resource.ts'
import type { ActiveUser } from '../../../../packages/domain/users/user.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { membershipIn, membershipsOf, type Membership } from '../organizations/memberships.ts'
import { knownUser, type FoundUser } from './user-accounts.ts'

/** Domain model 1.3. */
const accessLastsMs = 15 * 60_000

type AuthSession = Static<typeof AuthSessionResource>
type Asking = Pick<Request, 'dependencies' | 'envelope' | 'client'>

interface Starting {
  readonly method: UserSessionEvents['SessionStarted']['method']
  /** Left out: the one that the user works for by default. */
  readonly merchant?: string
}

/** Starts a session for somebody who has proved who it is, as they were known then. */
export async function startSession(
  { dependencies, envelope, client }: Asking,
  { id: user, state: proved }: FoundUser,
  { method, merchant: wanted }: Starting,
): Promise<AuthSession> {
  const { executor, newId } = dependencies
  const id = newId()
  const usual = wanted ?? proved.merchant
  const membership = await usualMembership(dependencies, user, usual)
  const data = { session: id, method, merchant: membership?.merchant ?? usual, ...placeOf(client) }
  const own = actingFor({ user }, { ...envelope, actor: `user:${user}` })
  const started = await executor.send(userSessions, user, { type: 'StartSession', data }, own)
  const [state, works] = await Promise.all([
    knownUser(dependencies, user),
    workplace(dependencies, membership),
  ])
  // A password that was changed since the proof ends what the proof has opened.
  if (state.passwordChanges !== proved.passwordChanges) {
    const end = { session: id, reason: 'password_changed' as const }
    await executor.send(userSessions, user, { type: 'EndSession', data: end }, own)
    refuse('email_and_password_must_be_right')
  }
  return withTokens(dependencies, { user, state, works, session: sessionIn(started.state.active, id)! })
}

/** Of what is known of a client, what a list of sessions shows. */
export function placeOf({ device, address, country }: Client): Place {
  return { device, address, country }
}

/** At this merchant while the user works there, else where they began last. */
async function usualMembership(
  dependencies: Dependencies,
  user: string,
  usual: string | null,
): Promise<Membership | undefined> {
  const there = await membershipIn(dependencies, user, usual)
  if (there) return there
  const [newest] = await membershipsOf(dependencies, user, { limit: 1 })
  return newest
}

export function sessionIn(active: readonly Session[], id: string): Session | undefined {
  return active.find((session) => session.id === id)
}

/** A session that goes on, for whom and for what it is now. */
export async function authSession(
  dependencies: Dependencies,
  { user, session }: Pick<Signed, 'user' | 'session'>,
): Promise<AuthSession> {
  const [state, membership] = await Promise.all([
    knownUser(dependencies, user),
    membershipIn(dependencies, user, session.merchant),
  ])
  return withTokens(dependencies, {
    user,
    state,
    session,
    works: await workplace(dependencies, membership),
  })
}

interface Signed {
  readonly user: string
  readonly state: ActiveUser
  readonly session: Session
  readonly works: Awaited<ReturnType<typeof workplace>>
}

/** A pair of tokens for a session, and whom they are for. */
async function withTokens(
  dependencies: Dependencies,
  { user, state, session, works }: Signed,
): Promise<AuthSession> {
  const accessExpires = new Date(dependencies.clock().getTime() + accessLastsMs)
  const refreshExpires = expiryOf(session)
  const { merchant, organization, role } = works
  const about = { subject: user, id: session.id }
  const { tokens } = dependencies
  const access = {
    ...about,
    merchant: session.merchant ?? '',
    organization: organization?.id ?? '',
    role: role ?? '',
  }
  return {
    id: session.id,
    object: 'auth_session',
    livemode: false,
    created: unixSeconds(session.startedAt),
    access_token: await tokens.sign('access', access, accessExpires),
    refresh_token: await tokens.sign('refresh', { ...about, generation: session.generation }, refreshExpires),
    token_type: 'Bearer',
    expires_in: accessLastsMs / 1_000,
    refresh_expires_in: secondsUntil(refreshExpires, dependencies.clock()),
    user: { id: user, email: state.email, name: state.name },
    merchant,
    organization,
    role,
    scopes: [...works.scopes],
    mfa_required: false,
  }
}

function secondsUntil(time: Date, now: Date): number {
  return Math.max(0, Math.floor((time.getTime() - now.getTime()) / 1_000))
}

/** For whom a user works, and as what; nulls for who is no member. */
export async function workplace({ executor }: Dependencies, membership: Membership | undefined) {
  if (!membership) return nowhere
  const { merchant: id, role, state } = membership
  const known =
    state.organization === null ? undefined : await executor.current(organization, state.organization)
  const unit = known?.state
  return {
    merchant: { id, name: state.name },
    organization:
      unit?.status === 'active' ? { id: state.organization!, display_name: unit.displayName } : null,
    role,
    scopes: scopesOfRole(role),
    isLive: state.isLive,
  }
}

const nowhere = {
  merchant: null,
  organization: null,
  role: null,
  scopes: scopesOfNonMembers,
  isLive: false,
} as const
