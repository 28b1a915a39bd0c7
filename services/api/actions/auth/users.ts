import { signedInUser } from '../../../../packages/contract/access/callers.ts'
import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Request, Slice } from '../../../../packages/contract/routes.ts'
import type { Asked } from '../../../../packages/contract/row.ts'
import { unixSeconds, type Static } from '../../../../packages/contract/vocabulary.ts'
import {
  expiryOf,
  isOver,
  userSessions,
  type Session,
  type UserSessionCommands,
  type UserSessions,
} from '../../../../packages/domain/sessions/user-sessions.ts'
import { hasSecondFactor } from '../../../../packages/domain/users/factors.ts'
import { endOfSessions } from '../../../../packages/domain/users/ended-sessions.ts'
import { viewOnboarding } from '../../../../packages/domain/users/resources/onboarding-resources.ts'
import type {
  MeResource,
  PasswordChangeRequest,
  SessionResource,
} from '../../../../packages/domain/users/resource.ts'
import { user, type UserCommands } from '../../../../packages/domain/users/user.ts'
import type { OpenedToken } from '../../../../packages/kernel/ports/credentials.ts'
import { streamName, type Message } from '../../../../packages/kernel/decider.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { authSession, originOf, sessionIn, workplace } from './auth-sessions.ts'
import { requestLink } from './sign-in.ts'
import { queueKeysOf, countMail, provePassword, unlock } from './sign-in-guards.ts'
import { requireStrong } from './sign-up.ts'
import { knownUser, signedIn, type SignedIn } from './user-accounts.ts'

export async function me(request: Request): Promise<Static<typeof MeResource>> {
  const { user: id, merchant } = signedIn(request)
  const [state, { isLive, ...works }] = await Promise.all([
    knownUser(request.dependencies, id),
    workplace(request.dependencies, id, merchant),
  ])
  return {
    id,
    object: 'user',
    livemode: false,
    created: unixSeconds(state.createdAt),
    email: state.email,
    email_verified: state.emailVerified,
    name: state.name,
    phone: state.phone,
    phone_verified: state.phoneVerified,
    language: state.language,
    mfa_enabled: hasSecondFactor(state),
    ...works,
    scopes: [...works.scopes],
    environments: isLive ? ['sandbox', 'live'] : ['sandbox'],
    onboarding: viewOnboarding(id, state.guide),
  }
}

// Sessions

/** The next pair of tokens. A token that was spent before ends the session. */
export async function refresh(request: Request<{ refreshToken: string }>) {
  const { dependencies, envelope, client, body } = request
  const { claims } =
    (await dependencies.tokens.open('refresh', body.refreshToken)) ?? refuse('token_must_be_valid')
  const { subject: id, id: session } = claims
  const data = { session, generation: Number(claims['generation']), ...originOf(client) }
  const own = actingFor({ user: id }, { ...envelope, actor: `user:${id}` })
  const { state } = await dependencies.executor.send(userSessions, id, { type: 'RefreshSession', data }, own)
  const known = sessionIn(state.active, session) ?? refuse('token_must_be_valid')
  return authSession(dependencies, { user: id, session: known })
}

export async function logout(request: Request) {
  const { user: id, session } = signedIn(request)
  const command = { type: 'EndSession', data: { session, reason: 'signed_out' } } as const
  await request.send(userSessions, id, command, { isWhole: true })
  return acknowledged('Signed out')
}

export async function prepareEndOfOthers(request: Asked): Promise<UserSessionCommands['EndSessions']> {
  return { endings: null, except: signedIn(request).session, reason: 'ended_by_user' }
}

export async function sessionItems(request: Request): Promise<Slice<Static<typeof SessionResource>>> {
  const now = request.dependencies.clock()
  const shown = (await activeSessions(request)).filter((session) => !isOver(session, now)).toReversed()
  return { data: shown.map((session) => viewSession(session, signedIn(request))) }
}

/** Which session the path names, and which one asks. */
export function askedSession(request: Asked) {
  return { id: request.params['id']!, current: signedIn(request) }
}

export function viewAskedSession(
  _: string,
  { active }: UserSessions,
  { id, current }: ReturnType<typeof askedSession>,
) {
  const session = sessionIn(active, id)
  return session && viewSession(session, current)
}

export function viewEndedSession(_: string, __: UserSessions, id: string) {
  return { id, object: 'session', deleted: true } as const
}

async function activeSessions(request: Request): Promise<readonly Session[]> {
  const { executor } = request.dependencies
  const { state, revision } = await executor.current(userSessions, signedIn(request).user)
  request.read(revision)
  return state.active
}

function viewSession(session: Session, { session: current }: SignedIn): Static<typeof SessionResource> {
  return {
    id: session.id,
    object: 'session',
    livemode: false,
    created: unixSeconds(session.startedAt),
    device: session.device,
    ip: session.address,
    country: session.country,
    current: session.id === current,
    last_used_at: session.usedAt,
    expires_at: expiryOf(session).toISOString(),
  }
}

// Address and password

export async function verifyEmail(request: Request<{ token: string }>) {
  const { id, link } = await openedLink(request, 'verify_email')
  const { caller, dependencies } = request
  // Only a session shows that who has the mailbox has set up what opens the account: decision 24.
  const isSignedIn = signedInUser(caller) === id
  if (isSignedIn) {
    if (!(await request.hasWritten(streamName(user.category, id))))
      await request.send(user, id, { type: 'VerifyEmail', data: { link, reset: null } })
    return acknowledged('The address is verified')
  }
  await sendForUser(request, id, { type: 'VerifyEmail', data: { link, reset: dependencies.newId() } })
  await endBefore(request, id)
  return acknowledged('The address is verified, and a link to choose a password is on its way')
}

export async function resendVerification(request: Request) {
  const { user: id } = signedIn(request)
  const data = { link: request.id }
  const { email, emailVerified, requested } = await knownUser(request.dependencies, id)
  if (!emailVerified && !requested.includes(request.id))
    await countMail(request, email, { purpose: 'verify_email', user: id })
  await request.send(user, id, { type: 'RequestEmailVerification', data })
  return acknowledged('A link is on its way')
}

export async function forgotPassword(request: Request<{ email: string }>) {
  await requestLink(request, 'reset_password')
  return acknowledged('If somebody has registered with this address, a link is on its way')
}

export async function resetPassword(request: Request<{ token: string; newPassword: string }>) {
  const { id, link } = await openedLink(request, 'reset_password')
  const { dependencies } = request
  const known = await knownUser(dependencies, id)
  if (known.links.reset_password?.id !== link) refuse('token_must_be_valid')
  const data = { ...(await newPassword(request, known)), session: null, link }
  await sendForUser(request, id, { type: 'ChangePassword', data })
  await endBefore(request, id)
  await unlock(request, known.email, link)
  return acknowledged('The password is changed, and all sessions have ended')
}

export async function changePassword(request: Request<Static<typeof PasswordChangeRequest>>) {
  const { user: id, session } = signedIn(request)
  const { dependencies, body } = request
  const known = await knownUser(dependencies, id)
  if (await request.hasWritten(streamName(user.category, id))) return passwordChanged
  const proof = { email: known.email, password: body.currentPassword, known: { id, state: known } }
  const isRight = await provePassword(request, proof)
  if (!isRight) refuse('password_must_be_right')
  const data = { ...(await newPassword(request, known)), session, from: known.passwordChanges }
  await request.send(user, id, { type: 'ChangePassword', data })
  await endBefore(request, id)
  return passwordChanged
}

/** The row has consumed the challenge that stands for the current password. */
export async function changePasswordProven(request: Request<{ challengeId: string; newPassword: string }>) {
  const { user: id, session } = signedIn(request)
  const known = await knownUser(request.dependencies, id)
  if (await request.hasWritten(streamName(user.category, id))) return passwordChanged
  const data = { ...(await newPassword(request, known)), session, from: known.passwordChanges }
  await request.send(user, id, { type: 'ChangePassword', data })
  await endBefore(request, id)
  return passwordChanged
}

const passwordChanged = acknowledged('The password is changed, and all other sessions have ended')

export async function newPassword(
  { dependencies, body, client }: Pick<Request<{ newPassword: string }>, 'dependencies' | 'body' | 'client'>,
  { email, name }: { readonly email: string; readonly name: string },
) {
  const password = body.newPassword
  await requireStrong(dependencies, '/newPassword', { password, known: [email, name] })
  return { password: await dependencies.passwords.hash(password, queueKeysOf({ client }, email)) }
}

/** What a reaction would do a moment later, so that nobody goes on in between. */
export async function endBefore(
  { dependencies: { executor }, envelope }: Pick<Request<unknown>, 'dependencies' | 'envelope'>,
  id: string,
): Promise<void> {
  const { state } = await executor.current(user, id)
  const own = actingFor({ user: id }, { ...envelope, actor: `user:${id}` })
  await executor.send(userSessions, id, endOfSessions(state), own)
}

export async function openedLink({ dependencies, body }: Request<{ token: string }>, purpose: string) {
  const token: OpenedToken | undefined = await dependencies.tokens.open('link', body.token)
  if (!token || token.claims['purpose'] !== purpose) return refuse('token_must_be_valid')
  const { claims } = token
  return { id: claims.subject, link: claims.id, claims }
}

async function sendForUser(
  { dependencies, envelope }: Request<unknown>,
  id: string,
  command: Message<UserCommands>,
): Promise<void> {
  const own = actingFor({ user: id }, { ...envelope, actor: `user:${id}` })
  await dependencies.executor.send(user, id, command, own)
}

export function acknowledged(message: string) {
  return { object: 'acknowledgement' as const, message }
}
