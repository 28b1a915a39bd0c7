import { refuse } from '../../../../packages/contract/refusals.ts'
import { scopesOfNonMembers, scopesOfRole } from '../../../../packages/contract/access/roles.ts'
import type { Client, Dependencies, Request } from '../../../../packages/contract/routes.ts'
import { unixSeconds, type Static } from '../../../../packages/contract/vocabulary.ts'
import { organization } from '../../../../packages/domain/organizations/organization.ts'
import {
  expiryOf,
  isFull,
  userSessions,
  type SignInOrigin,
  type Session,
  type UserSessionEvents,
} from '../../../../packages/domain/sessions/user-sessions.ts'
import type { AuthSessionResource } from '../../../../packages/domain/users/resource.ts'
import type { ActiveUser } from '../../../../packages/domain/users/user.ts'
import { actingFor, type Envelope } from '../../../../packages/kernel/envelope.ts'
import type { UserOwner } from '../../../../packages/kernel/owner.ts'
import {
  lastMembershipIn,
  membershipIn,
  membershipsOf,
  type Membership,
} from '../organizations/memberships.ts'
import type { Confirm } from './sign-in-guards.ts'
import { knownUser, type FoundUser } from './user-accounts.ts'

/** Domain model 1.3. */
const accessLastsMs = 15 * 60_000

type AuthSession = Static<typeof AuthSessionResource>
type RequestPart = Pick<Request, 'dependencies' | 'envelope' | 'client'>

interface Starting {
  readonly method: UserSessionEvents['SessionStarted']['method']
  /** Left out: the one that the user works for by default. */
  readonly merchant?: string
  /** What may still refuse it. It is asked once the session is there: one query reads this and the rest. */
  readonly confirm?: Confirm
}

/** Starts a session for somebody who has proved who it is, as they were known then. */
export async function startSession(
  request: RequestPart,
  proved: FoundUser,
  { merchant: wanted, ...starting }: Starting,
): Promise<AuthSession> {
  const { dependencies } = request
  const merchant = wanted ?? proved.state.merchant
  const remembered = lastMembershipIn(dependencies, proved.id, merchant)
  if (remembered) {
    const signed = await begin(request, proved, { ...starting, merchant })
    if (signed.works.merchant) return withTokens(dependencies, signed)
    // Over by now. A policy may have ended the session already, so another one takes its place.
    await end(request, signed, 'signed_out')
  }
  const membership = await usualMembership(dependencies, proved.id, merchant)
  // A merchant that is not founded yet has no members: the session of its founder is for it all the same.
  const place = membership?.merchant ?? (remembered ? null : merchant)
  return withTokens(dependencies, await begin(request, proved, { ...starting, merchant: place }))
}

interface Beginning extends Pick<Starting, 'method' | 'confirm'> {
  readonly merchant: string | null
}

/** A session, and what the user and the merchant are once it is there. */
async function begin(
  request: RequestPart,
  { id: user, state: proved }: FoundUser,
  { method, merchant, confirm }: Beginning,
): Promise<Signed> {
  const { dependencies, client } = request
  const { executor, newId } = dependencies
  const id = newId()
  const { times: endings } = proved.sessionsEnded
  const data = { session: id, method, merchant, endings, ...originOf(client) }
  const start = async (mayEndOldest: boolean) => {
    const command = { type: 'StartSession', data: { ...data, mayEndOldest } } as const
    const { state } = await executor.send(userSessions, user, command, ofUser(request, user))
    return sessionIn(state.active, id)
  }
  // The oldest is not ended for what is refused next. Usually this process has seen that the list is full.
  const confirmFirst = () => Promise.all([confirm!(), requireProofStill(dependencies, user, endings)])
  const seen = executor.lastSeen(userSessions, user)
  const begun = confirm && seen && isFull(seen) ? undefined : await start(!confirm)
  const session = begun ?? (await confirmFirst().then(() => start(true)))!
  const [state, works, refused] = await Promise.all([
    knownUser(dependencies, user),
    workplace(dependencies, user, merchant),
    confirm?.().then(
      () => undefined,
      (error: unknown) => ({ error }),
    ),
  ])
  const signed = { user, state, works, session }
  if (refused) {
    await end(request, signed, 'signed_out')
    throw refused.error
  }
  if (!isProofGood(state, endings)) await end(request, signed, 'password_changed')
  requireProof(state, endings)
  return signed
}

/** A password that was changed, or a factor that was undone, since the proof ends what it has opened. */
function isProofGood({ sessionsEnded }: ActiveUser, endings: number): boolean {
  return sessionsEnded.times === endings
}

async function requireProofStill(dependencies: Dependencies, user: string, endings: number): Promise<void> {
  requireProof(await knownUser(dependencies, user), endings)
}

function requireProof(state: ActiveUser, endings: number): void {
  if (!isProofGood(state, endings)) refuse('email_and_password_must_be_right')
}

type Ending = 'signed_out' | 'password_changed'

async function end(request: RequestPart, { user, session }: Signed, reason: Ending): Promise<void> {
  const ending = { type: 'EndSession', data: { session: session.id, reason } } as const
  await request.dependencies.executor.send(userSessions, user, ending, ofUser(request, user))
}

function ofUser({ envelope }: RequestPart, user: string): Envelope<UserOwner> {
  return actingFor({ user }, { ...envelope, actor: `user:${user}` })
}

/** Of what is known of a client, what a list of sessions shows. */
export function originOf({ device, address, country }: Client): SignInOrigin {
  return { device, address, country }
}

const newestLookedAt = 10

/** At this merchant while the user works there, else where they began last. */
async function usualMembership(
  dependencies: Dependencies,
  user: string,
  usual: string | null,
): Promise<Membership | undefined> {
  const there = await membershipIn(dependencies, user, usual)
  if (there) return there
  // Lists may be late: one that is over is left out.
  const [newest] = await membershipsOf(dependencies, user, { limit: newestLookedAt })
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
  const [state, works] = await Promise.all([
    knownUser(dependencies, user),
    workplace(dependencies, user, session.merchant),
  ])
  return withTokens(dependencies, { user, state, session, works })
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
  const [access_token, refresh_token] = await Promise.all([
    tokens.sign('access', access, accessExpires),
    tokens.sign('refresh', { ...about, generation: session.generation }, refreshExpires),
  ])
  return {
    id: session.id,
    object: 'auth_session',
    livemode: false,
    created: unixSeconds(session.startedAt),
    access_token,
    refresh_token,
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

/** For whom a user works, and as what; nulls for who is no member of this merchant. */
export async function workplace(dependencies: Dependencies, user: string, merchant: string | null) {
  // Usually it is seen which organization that is, and it stays the same: one query reads both.
  const seen = lastMembershipIn(dependencies, user, merchant)?.state.organization ?? null
  const [membership, usual] = await Promise.all([
    membershipIn(dependencies, user, merchant),
    organizationIn(dependencies, seen),
  ])
  if (!membership) return nowhere
  const { merchant: id, role, state } = membership
  return {
    merchant: { id, name: state.name },
    organization:
      seen === state.organization ? usual : await organizationIn(dependencies, state.organization),
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

async function organizationIn({ executor }: Dependencies, id: string | null) {
  const unit = id === null ? undefined : (await executor.current(organization, id)).state
  return unit?.status === 'active' ? { id: id!, display_name: unit.displayName } : null
}
