import { refuse } from '../../../packages/contract/refusals.ts'
import { scopesOfNonMembers, scopesOfRole } from '../../../packages/contract/roles.ts'
import type { Dependencies, Request } from '../../../packages/contract/routes.ts'
import { unixSeconds, type Static } from '../../../packages/contract/vocabulary.ts'
import { merchant } from '../../../packages/domain/merchants/merchant.ts'
import { organization } from '../../../packages/domain/organizations/organization.ts'
import {
  expiryOf,
  userSessions,
  type Session,
  type UserSessionEvents,
} from '../../../packages/domain/sessions/user-sessions.ts'
import type { AuthSessionResource } from '../../../packages/domain/users/resource.ts'
import type { ActiveUser } from '../../../packages/domain/users/user.ts'
import { actingFor } from '../../../packages/kernel/envelope.ts'
import { readState } from '../../../packages/kernel/history.ts'
import { membershipIn, membershipsOf } from './memberships.ts'
import { knownUser } from './user-accounts.ts'

/** Domain model 1.3. */
const accessLastsMs = 15 * 60_000

type AuthSession = Static<typeof AuthSessionResource>
type Asking = Pick<Request, 'dependencies' | 'envelope' | 'client'>

interface Starting {
  readonly user: string
  readonly method: UserSessionEvents['SessionStarted']['method']
  /** Left out: the one that the user works for by default. */
  readonly merchant?: string
  /** As of which password it was proved. */
  readonly passwordChanges: number
}

/** Starts a session for somebody who has proved who it is. */
export async function startSession(
  { dependencies, envelope, client }: Asking,
  { user, method, merchant: chosen, passwordChanges }: Starting,
): Promise<AuthSession> {
  const { executor, newId } = dependencies
  const id = newId()
  const state = await knownUser(dependencies, user)
  const data = {
    session: id,
    method,
    merchant: chosen ?? (await usualMerchant(dependencies, user, state)),
    ...client,
  }
  const own = actingFor({ user }, { ...envelope, actor: `user:${user}` })
  const started = await executor.send(userSessions, user, { type: 'StartSession', data }, own)
  // A password that was changed since the proof ends what the proof has opened.
  const now = await knownUser(dependencies, user)
  if (now.passwordChanges !== passwordChanges) {
    const end = { session: id, reason: 'password_changed' as const }
    await executor.send(userSessions, user, { type: 'EndSession', data: end }, own)
    refuse('email_and_password_must_be_right')
  }
  return authSession(dependencies, { user, state: now, session: sessionIn(started.state.active, id)! })
}

/** The user's default while they work there, else one where they do. */
async function usualMerchant(
  dependencies: Dependencies,
  user: string,
  { merchant: usual }: ActiveUser,
): Promise<string | null> {
  const isMember = usual !== null && (await membershipIn(dependencies.store, user, usual))
  if (isMember) return usual
  const [newest] = await membershipsOf(dependencies, user, { limit: 1 })
  return newest?.merchant ?? usual
}

export function sessionIn(active: readonly Session[], id: string): Session | undefined {
  return active.find((session) => session.id === id)
}

interface Signed {
  readonly user: string
  readonly state: ActiveUser
  readonly session: Session
}

/** A pair of tokens for a session, and whom they are for. */
export async function authSession(dependencies: Dependencies, signed: Signed): Promise<AuthSession> {
  const { user, state, session } = signed
  const works = await workplace(dependencies, user, session.merchant)
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
export async function workplace({ store }: Dependencies, user: string, id: string | null) {
  const known = id === null ? undefined : await readState(store, merchant, id)
  if (id === null || !known || known.status === 'none') return nowhere
  const role = known.members[user] ?? null
  if (role === null) return nowhere
  const unit =
    known.organization === null ? undefined : await readState(store, organization, known.organization)
  return {
    merchant: { id, name: known.name },
    organization:
      unit?.status === 'active' ? { id: known.organization!, display_name: unit.displayName } : null,
    role,
    scopes: scopesOfRole(role),
    isLive: known.isLive,
  }
}

const nowhere = {
  merchant: null,
  organization: null,
  role: null,
  scopes: scopesOfNonMembers,
  isLive: false,
} as const
