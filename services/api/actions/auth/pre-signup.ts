import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import {
  challenge,
  type ChallengePurpose,
  type IssuedChallenge,
} from '../../../../packages/domain/challenges/challenge.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { viewChallenge } from './challenges.ts'
import { countMail, countText } from './sign-in-guards.ts'

const methods = { pre_signup_email: 'email', pre_signup_phone: 'sms' } as const
type Purpose = keyof typeof methods

/** A code goes there, whether or not somebody has registered with it. */
export async function challengeEmail(request: Request<{ email: string }>) {
  await countMail(request, request.body.email, { purpose: 'pre_signup' })
  return issue(request, 'pre_signup_email', request.body.email)
}

export async function challengePhone(request: Request<{ phone: string }>) {
  await countText(request, request.body.phone, { purpose: 'pre_signup' })
  return issue(request, 'pre_signup_phone', request.body.phone)
}

async function issue(request: Request<unknown>, purpose: Purpose, address: string) {
  const { dependencies, envelope, client, id } = request
  const data = {
    purpose,
    method: methods[purpose],
    user: null,
    destination: address,
    language: client.language ?? 'fr',
    passwordChanges: 0,
  } as const
  const own = actingFor({ platform: true as const }, envelope)
  const { state } = await dependencies.executor.send(challenge, id, { type: 'IssueChallenge', data }, own)
  return viewChallenge(id, state as IssuedChallenge, dependencies.clock())
}

/** Who knows its id has asked for it. */
export async function showPreSignup({ dependencies, params }: Request) {
  const id = params['id']!
  const state = await readState(dependencies.store, challenge, id)
  const isOne = state.status !== 'none' && state.purpose in methods
  return isOne ? viewChallenge(id, state, dependencies.clock()) : refuse('resource_must_exist')
}

type Answering = Request<{ challengeId: string; code: string }>

export const verifyEmailBefore = (request: Answering) => verify(request, 'pre_signup_email')
export const verifyPhoneBefore = (request: Answering) => verify(request, 'pre_signup_phone')

async function verify({ dependencies, envelope, body }: Answering, purpose: Purpose) {
  const { challengeId: id, code } = body
  const known = await readState(dependencies.store, challenge, id)
  if (known.status === 'none' || known.purpose !== purpose) return refuse('code_must_be_right')
  const isRight = code === (await dependencies.codes.of(id))
  const answer = { type: 'AnswerChallenge', data: { isRight, method: known.method } } as const
  const own = actingFor({ platform: true as const }, envelope)
  const { state } = await dependencies.executor.send(challenge, id, answer, own)
  return isRight
    ? viewChallenge(id, state as IssuedChallenge, dependencies.clock())
    : refuse('code_must_be_right')
}

interface Proved {
  /** Left out where nothing was proved. */
  readonly id: string | null | undefined
  readonly purpose: Purpose
  readonly address: string | null
}

/** Whether a registration has proved its address or number; a challenge for another one is refused. */
export async function isProved({ store }: Dependencies, { id, purpose, address }: Proved): Promise<boolean> {
  if (!id) return false
  const known = await readState(store, challenge, id)
  const isFor =
    known.status !== 'none' &&
    known.purpose === (purpose satisfies ChallengePurpose) &&
    known.destination?.toLowerCase() === address?.toLowerCase()
  if (!isFor) refuse('challenge_must_be_verified')
  return true
}

export async function consumeProofs(
  { dependencies, envelope, id: by }: Request<unknown>,
  proofs: readonly Proved[],
): Promise<void> {
  const own = actingFor({ platform: true as const }, envelope)
  for (const { id, purpose } of proofs) {
    const consume = { type: 'ConsumeChallenge', data: { purpose, by } } as const
    if (id) await dependencies.executor.send(challenge, id, consume, own)
  }
}
