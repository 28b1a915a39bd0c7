import { refuse, Refusal } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import { unixSeconds, type Static } from '../../../../packages/contract/vocabulary.ts'
import {
  challenge,
  statusOf,
  triesMax,
  type Challenge,
  type ChallengeMethod,
  type ChallengePurpose,
  type IssuedChallenge,
} from '../../../../packages/domain/challenges/challenge.ts'
import type { ChallengeResource } from '../../../../packages/domain/challenges/resource.ts'
import { user as users, type ActiveUser } from '../../../../packages/domain/users/user.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { startSession } from './auth-sessions.ts'
import { countMail, triesOfFactors } from './sign-in-guards.ts'
import { knownUser, signedIn } from './user-accounts.ts'

type RequestPart = Pick<Request, 'dependencies' | 'envelope' | 'client' | 'id'>
type ChallengeView = Static<typeof ChallengeResource>

interface Wanted {
  readonly purpose: ChallengePurpose
  readonly user: string
  readonly state: ActiveUser
}

/** Asks for a second proof: a code of the authenticator, or one that is mailed where there is none. */
export async function issueTo(
  request: RequestPart,
  { purpose, user, state }: Wanted,
): Promise<ChallengeView> {
  const { dependencies, envelope, id } = request
  const method = state.totp ? ('totp' as const) : ('email' as const)
  const destination = state.totp ? null : state.email
  if (destination !== null) await countMail(request, destination, { purpose: 'code', user })
  const { language, passwordChanges } = state
  const data = { purpose, method, user, destination, language, passwordChanges }
  const own = actingFor({ user }, { ...envelope, actor: `user:${user}` })
  const issued = await dependencies.executor.send(challenge, id, { type: 'IssueChallenge', data }, own)
  return viewChallenge(id, issued.state as IssuedChallenge, dependencies.clock())
}

export async function askForChallenge(request: Request<{ purpose: ChallengePurpose }>) {
  const { user } = signedIn(request)
  const state = await knownUser(request.dependencies, user)
  return issueTo(request, { purpose: request.body.purpose, user, state })
}

/** The answer to a challenge. For signing in, it is a session. */
export async function answerChallenge(request: Request<{ challengeId: string; code: string }>) {
  const { dependencies, body } = request
  const { challengeId: id, code } = body
  const known = await readState(dependencies.store, challenge, id)
  if (known.status === 'none') return refuse('code_must_be_right')
  const envelope = actingFor(ownerOf(known), { ...request.envelope, actor: actorOf(known) })
  const proved = await sameUser(dependencies, known)
  const { isRight, method } = await isAnswered(request, { id, known, code: code.trim() })
  const answer = { type: 'AnswerChallenge', data: { isRight, method } } as const
  const { state } = await dependencies.executor.send(challenge, id, answer, envelope)
  if (!isRight) refuse('code_must_be_right')
  if (known.purpose !== 'sign_in' || known.user === null || !proved)
    return viewChallenge(id, state as IssuedChallenge, dependencies.clock())
  const consume = { type: 'ConsumeChallenge', data: { purpose: 'sign_in', by: request.id } } as const
  await dependencies.executor.send(challenge, id, consume, envelope)
  return startSession(request, { id: known.user, state: proved }, { method: 'password' })
}

/** Who has left answers nothing, and a password that is changed meanwhile has proved nothing. */
async function sameUser(
  { executor }: Dependencies,
  { user, purpose, passwordChanges }: IssuedChallenge,
): Promise<ActiveUser | undefined> {
  if (user === null) return undefined
  const { state: now } = await executor.current(users, user)
  if (now.status !== 'active') return refuse('challenge_must_be_pending')
  if (purpose === 'sign_in' && now.passwordChanges !== passwordChanges) refuse('challenge_must_be_pending')
  return now
}

interface Answering {
  readonly id: string
  readonly known: IssuedChallenge
  readonly code: string
}

async function isAnswered(
  request: Request<unknown>,
  { id, known, code }: Answering,
): Promise<{ isRight: boolean; method: ChallengeMethod }> {
  const { user, method } = known
  if (method === 'passkey' || method === 'google') return { isRight: false, method }
  if (method !== 'totp' || user === null)
    return { isRight: code === (await request.dependencies.codes.of(id)), method }
  // No code is spent on what takes no answer.
  if (statusOf(known, request.dependencies.clock()) !== 'pending') return { isRight: false, method }
  const tries = await triesOfFactors(request, user)
  await tries.begin(user)
  const { totp } = await knownUser(request.dependencies, user)
  const step = totp ? await request.dependencies.codes.stepOf(totp.secret, code) : undefined
  const digest = await recoveryDigest(request.dependencies, user, code)
  const isTotp = step !== undefined
  const use: Use = isTotp
    ? { type: 'UseTotp', data: { step } }
    : { type: 'UseRecoveryCode', data: { digest } }
  const isRight = await isTaken(request, user, use)
  if (isRight) await tries.pass()
  return { isRight, method: isTotp ? method : 'recovery_code' }
}

type Use =
  | { readonly type: 'UseTotp'; readonly data: { readonly step: number } }
  | { readonly type: 'UseRecoveryCode'; readonly data: { readonly digest: string } }

/** False for a code that was used before. */
async function isTaken(
  { dependencies, envelope }: Request<unknown>,
  user: string,
  use: Use,
): Promise<boolean> {
  const own = actingFor({ user }, { ...envelope, actor: `user:${user}` })
  try {
    await dependencies.executor.send(users, user, use, own)
    return true
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'code_must_be_right') return false
    throw error
  }
}

/** In lower case and without hyphens and spaces, which people add and leave out. */
export function recoveryDigest({ blindIndex }: Dependencies, user: string, code: string): Promise<string> {
  return blindIndex(JSON.stringify(['recovery code', user, code.toLowerCase().replaceAll(/[\s-]/g, '')]))
}

function ownerOf({ user }: IssuedChallenge) {
  return user === null ? { platform: true as const } : { user }
}

function actorOf({ user }: IssuedChallenge): string {
  return user === null ? 'public' : `user:${user}`
}

export function viewChallengeIfAny(id: string, state: Challenge, now: Date): ChallengeView | undefined {
  return state.status === 'none' ? undefined : viewChallenge(id, state, now)
}

export function viewChallenge(id: string, state: IssuedChallenge, now: Date): ChallengeView {
  const { purpose, method, destination, failures, expiresAt, issuedAt } = state
  return {
    id,
    object: 'challenge',
    livemode: false,
    created: unixSeconds(issuedAt),
    purpose,
    method,
    status: statusOf(state, now),
    mfa_required: purpose === 'sign_in',
    destination_hint: destination === null ? null : hintOf(destination),
    attempts_left: Math.max(0, triesMax - failures),
    expires_at: expiresAt,
  }
}

/** Enough to know which one it is for whoever has it. */
export function hintOf(destination: string): string {
  const [name = '', domain] = destination.split('@')
  return domain === undefined ? `${name.slice(0, 4)}…${name.slice(-2)}` : `${name.slice(0, 1)}…@${domain}`
}
