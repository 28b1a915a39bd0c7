import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import {
  challenge,
  statusOf,
  type ChallengePurpose,
  type IssuedChallenge,
} from '../../../../packages/domain/challenges/challenge.ts'
import type { ActiveUser } from '../../../../packages/domain/users/user.ts'
import { actingFor, type Envelope } from '../../../../packages/kernel/envelope.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { readState } from '../../../../packages/kernel/history.ts'

type RequestPart = Pick<Request<unknown>, 'dependencies' | 'envelope' | 'id' | 'send' | 'hasWritten'>

export interface Wanted {
  readonly purpose: ChallengePurpose
  readonly method: 'passkey' | 'google'
  /** Null where the answer shows who it is. */
  readonly user: string | null
  readonly state?: Pick<ActiveUser, 'language' | 'passwordChanges'>
}

/** A challenge that a passkey answers, whose id the device signs, or that Google does. */
export async function issueCeremony(
  { dependencies, envelope, id }: RequestPart,
  { purpose, method, user, state }: Wanted,
): Promise<IssuedChallenge> {
  const { language = 'fr', passwordChanges = 0 } = state ?? {}
  const data = { purpose, method, user, destination: null, language, passwordChanges }
  const own = ceremonyEnvelope(user, envelope)
  const { state: issued } = await dependencies.executor.send(
    challenge,
    id,
    { type: 'IssueChallenge', data },
    own,
  )
  return issued as IssuedChallenge
}

export interface Ceremony {
  readonly id: string
  readonly known: IssuedChallenge
}

interface Expected {
  readonly purposes: readonly ChallengePurpose[]
  readonly user: string | null
}

/** The challenge that an answer is for, while it waits for one. */
export async function ceremonyOf(
  request: RequestPart,
  answer: object,
  { purposes, user }: Expected,
): Promise<Ceremony> {
  const { dependencies } = request
  const id = (await dependencies.passkeys.challengeOf(answer)) ?? refuse('code_must_be_right')
  const known = await readState(dependencies.store, challenge, id)
  const isExpected =
    known.status !== 'none' &&
    known.method === 'passkey' &&
    known.user === user &&
    purposes.includes(known.purpose)
  if (!isExpected) return refuse('code_must_be_right')
  // An earlier try of this request has answered it.
  if (known.status === 'verified' && (await request.hasWritten(streamName(challenge.category, id))))
    return { id, known }
  const status = statusOf(known, dependencies.clock())
  if (status === 'expired') refuse('code_must_be_right')
  if (status !== 'pending') refuse('challenge_must_be_pending')
  return { id, known }
}

/** Notes how it was answered; a wrong answer is refused. */
export async function conclude(
  request: RequestPart,
  { id, known }: Ceremony,
  isRight: boolean,
): Promise<IssuedChallenge> {
  if (known.status === 'verified') return known
  const answer = { type: 'AnswerChallenge', data: { isRight, method: known.method } } as const
  // Of a user, so that a repeat of the request knows its own answer.
  const state =
    known.user === null
      ? await answerCeremony(request, { id, known }, isRight)
      : (await request.send(challenge, id, answer)).state
  if (!isRight) refuse('code_must_be_right')
  return state as IssuedChallenge
}

/** In the name of whom it was issued to, whoever brings the answer. */
export async function answerCeremony(
  { dependencies, envelope }: Pick<RequestPart, 'dependencies' | 'envelope'>,
  { id, known: { user, method } }: Ceremony,
  isRight: boolean,
): Promise<IssuedChallenge> {
  const answer = { type: 'AnswerChallenge', data: { isRight, method } } as const
  const { state } = await dependencies.executor.send(challenge, id, answer, ceremonyEnvelope(user, envelope))
  return state as IssuedChallenge
}

export function ceremonyEnvelope(user: string | null, envelope: Envelope) {
  return user === null
    ? actingFor({ platform: true as const }, envelope)
    : actingFor({ user }, { ...envelope, actor: `user:${user}` })
}

/** A browser's answer, also where it came as a text. */
export function answerIn(given: object | string | null | undefined, pointer: string): object {
  const answer = typeof given === 'string' ? jsonOf(given) : given
  if (typeof answer === 'object' && answer !== null) return answer
  const field = pointer.slice(1)
  return refuseField('request_must_be_valid', pointer, `${field} must be what the browser answered, as JSON`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
