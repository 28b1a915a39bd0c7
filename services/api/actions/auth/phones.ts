import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import { challenge, type IssuedChallenge } from '../../../../packages/domain/challenges/challenge.ts'
import { claim, claimedName } from '../../../../packages/domain/claims/claim.ts'
import type { ContactChangeResource } from '../../../../packages/domain/users/resources/contact-resources.ts'
import type {
  PhoneChangeProof,
  PhoneChangeRequest,
} from '../../../../packages/domain/users/resources/phone-resources.ts'
import { user, type ActiveUser } from '../../../../packages/domain/users/user.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { claiming, type HeldClaim } from '../../../composition/claiming.ts'
import { requireProof } from '../../http/credentials/step-up.ts'
import { hintOf } from './challenges.ts'
import { viewPersonalInfo } from './contacts.ts'
import { countText } from './sign-in-guards.ts'
import { knownUser, signedIn, wantedPhone } from './user-accounts.ts'

type ChangeView = Static<typeof ContactChangeResource>

/** At once, with a challenge; the new number is unverified, and nobody's alone. */
export async function changePhone(request: Request<{ challengeId: string; newPhone: string }>) {
  const { user: id } = signedIn(request)
  const known = await knownUser(request.dependencies, id)
  return viewPersonalInfo(id, await takePhone(request, { id, known, phone: request.body.newPhone }))!
}

/** In two steps: nothing changes until the code that goes to the new number comes back. */
export async function requestPhoneChange(request: Request<Static<typeof PhoneChangeRequest>>) {
  const { dependencies, body, id: change } = request
  const { user: id } = signedIn(request)
  const phone = body.newPhone ?? refuseField('request_must_be_valid', '/newPhone', 'newPhone is required')
  const known = await knownUser(dependencies, id)
  await requireProof(request, known, { purpose: 'change_phone', challengeId: body.challengeId })
  await requireFree(dependencies, phone, id)
  if (!known.requested.includes(change))
    await countText(request, phone, { purpose: 'phone_change', user: id })
  const { language, passwordChanges } = known
  const sent = { purpose: 'new_phone', method: 'sms', destination: phone } as const
  const data = { ...sent, user: id, language, passwordChanges }
  const own = actingFor({ user: id }, request.envelope)
  await dependencies.executor.send(challenge, change, { type: 'IssueChallenge', data }, own)
  const asked = { type: 'RequestPhoneChange', data: { request: change, phone } } as const
  const { state } = await request.send(user, id, asked, { isWhole: true })
  return viewChange(dependencies, state as ActiveUser)
}

export async function showPhoneChange({ dependencies, params, ...request }: Request) {
  const known = await knownUser(dependencies, signedIn(request).user)
  return known.phoneChange?.request === params['id']
    ? viewChange(dependencies, known)
    : refuse('resource_must_exist')
}

export async function verifyPhoneChange(request: Request<Static<typeof PhoneChangeProof>>) {
  const { dependencies, body } = request
  const { user: id } = signedIn(request)
  const code = body.code ?? refuseField('request_must_be_valid', '/code', 'code is required')
  const known = await knownUser(dependencies, id)
  const { phoneChange } = known
  if (!phoneChange || (body.requestId && body.requestId !== phoneChange.request))
    return refuse('resource_must_exist')
  if (await request.hasWritten(streamName(user.category, id))) return viewChange(dependencies, known)
  if (phoneChange.status !== 'pending') refuse('contact_change_must_be_pending')
  await proveCode(request, phoneChange.request, code)
  const taking = { id, known, phone: phoneChange.phone, change: phoneChange.request }
  return viewChange(dependencies, await takePhone(request, taking))
}

/** A code that was right before stays so, for a try that ended before the number was the user's. */
async function proveCode(request: Request<unknown>, id: string, code: string): Promise<void> {
  const { dependencies, envelope } = request
  const known = (await readState(dependencies.store, challenge, id)) as IssuedChallenge
  const isRight = code === (await dependencies.codes.of(id))
  if (known.status === 'verified' && isRight) return
  const answer = { type: 'AnswerChallenge', data: { isRight, method: 'sms' } } as const
  await dependencies.executor.send(challenge, id, answer, actingFor({ user: known.user! }, envelope))
  if (!isRight) refuse('code_must_be_right')
}

interface Taking {
  readonly id: string
  readonly known: ActiveUser
  readonly phone: string
  /** Whose code has proved the number. */
  readonly change?: string
}

/** A proved number becomes the user's alone; the old one is free again. Once for a request. */
export async function takePhone(
  request: Request<unknown>,
  { id, known, phone, change }: Taking,
): Promise<ActiveUser> {
  const { dependencies, envelope } = request
  if (await request.hasWritten(streamName(user.category, id), 'UserPhoneChanged')) return known
  const own = actingFor({ user: id }, { ...envelope, actor: `user:${id}` })
  const replaces = await claimOfPhone(dependencies, known.phone ?? phone)
  if (change === undefined) await requireFree(dependencies, phone, id)
  const take = (held: readonly HeldClaim[]) => {
    const proved = change && { request: change }
    const data = { phone, held: [...held], replaces, from: known.phone, ...proved }
    return request.send(user, id, { type: 'ChangePhone', data })
  }
  const wanted = change === undefined ? [] : [wantedPhone(phone)]
  const context = { dependencies, envelope: own }
  const { state } = await claiming(context, { category: user.category, id }, { wanted, take })
  return state as ActiveUser
}

/** As far as is known before anything is changed. */
export async function requireFree(dependencies: Dependencies, phone: string, id: string): Promise<void> {
  const held = await readState(dependencies.store, claim, await claimOfPhone(dependencies, phone))
  if (held.status !== 'free' && held.holder.id !== id) refuse('phone_must_be_free')
}

export function claimOfPhone({ blindIndex }: Dependencies, phone: string): Promise<string> {
  return blindIndex(claimedName('phone', phone, { platform: true }))
}

async function viewChange({ store }: Dependencies, { phoneChange }: ActiveUser): Promise<ChangeView> {
  const { request: id, phone, status } = phoneChange!
  const { expiresAt } = (await readState(store, challenge, id)) as IssuedChallenge
  return {
    id,
    object: 'contact_change',
    kind: 'phone',
    new_value_hint: hintOf(phone),
    status,
    expires_at: expiresAt,
  }
}
