import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { unixSeconds, type Static } from '../../../../packages/contract/vocabulary.ts'
import type {
  ContactChangeResource,
  PersonalInfoResource,
} from '../../../../packages/domain/users/resources/contact-resources.ts'
import { user, type ActiveUser, type User } from '../../../../packages/domain/users/user.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { actingFor, type Envelope } from '../../../../packages/kernel/envelope.ts'
import { claiming } from '../../../composition/claiming.ts'
import { requireProof } from '../../http/credentials/step-up.ts'
import { startSession } from './auth-sessions.ts'
import { hintOf, issueTo } from './challenges.ts'
import { requestLink } from './sign-in.ts'
import { countMail, unlock } from './sign-in-guards.ts'
import { claimOfAddress, knownUser, signedIn, userOf, wantedAddress } from './user-accounts.ts'
import { acknowledged, openedLink } from './users.ts'

export function viewPersonalInfo(id: string, state: User): Static<typeof PersonalInfoResource> | undefined {
  if (state.status !== 'active') return undefined
  return {
    id,
    object: 'personal_info',
    livemode: false,
    created: unixSeconds(state.createdAt),
    name: state.name,
    email: state.email,
    email_verified: state.emailVerified,
    secondary_email: state.secondaryEmail,
    phone: state.phone,
    phone_verified: state.phoneVerified,
    language: state.language,
  }
}

// Another e-mail address

/** At once, with a challenge; the new address is unverified, and a link goes there. */
export async function changeEmail(request: Request<{ challengeId: string; newEmail: string }>) {
  const { user: id } = signedIn(request)
  const known = await knownUser(request.dependencies, id)
  await countMove(request, known)
  const state = await takeAddress(request, { id, known, email: request.body.newEmail })
  if (!state.emailVerified)
    await request.send(user, id, {
      type: 'RequestEmailVerification',
      data: { link: request.id, ifLacking: true },
    })
  return viewPersonalInfo(id, state)!
}

/** Of moving at once: a mail goes to the new address, and another one when it is left. */
export async function countMove(
  request: Request<{ newEmail?: string | null }>,
  { email, requested }: ActiveUser,
): Promise<void> {
  const { newEmail } = request.body
  const isRepeat = requested.includes(request.id)
  if (newEmail && newEmail !== email && !isRepeat)
    await countMail(request, newEmail, { purpose: 'verify_email', user: signedIn(request).user })
}

/** In two steps: nothing changes until the link at the new address is opened. */
export async function requestEmailChange(
  request: Request<{ challengeId?: string | null; newEmail?: string | null }>,
) {
  const { dependencies, body, id: link } = request
  const { user: id } = signedIn(request)
  const email = body.newEmail ?? refuseField('request_must_be_valid', '/newEmail', 'newEmail is required')
  const known = await knownUser(dependencies, id)
  await requireProof(request, known, { purpose: 'change_email', challengeId: body.challengeId })
  const other = await userOf(dependencies, email)
  if (other && other.id !== id) refuse('email_must_be_free')
  if (!known.requested.includes(link)) await countMail(request, email, { purpose: 'email_change', user: id })
  const ask = { type: 'RequestEmailChange', data: { link, email } } as const
  const { state } = await request.send(user, id, ask, { isWhole: true })
  return viewChange(state as ActiveUser)
}

export async function confirmEmailChange(request: Request<{ token: string }>) {
  const { id, link } = await openedLink(request, 'email_change')
  // Who opens a link may not know whose account it is that would get the address: decision 24.
  if (signedIn(request).user !== id) refuse('token_must_be_valid')
  const known = await knownUser(request.dependencies, id)
  const { emailChange } = known
  if (emailChange?.link !== link) return refuse('token_must_be_valid')
  if (await request.hasWritten(streamName(user.category, id))) return viewChange(known)
  return viewChange(await takeAddress(request, { id, known, email: emailChange.email, link }))
}

interface Taking {
  readonly id: string
  readonly known: ActiveUser
  readonly email: string
  /** The mailed one that proves the address. */
  readonly link?: string
}

/** Holds the new address, makes it the user's, and lets a policy free the old one: once for a request. */
export async function takeAddress(request: Request<unknown>, taking: Taking): Promise<ActiveUser> {
  const { dependencies } = request
  const { id, known, email, link } = taking
  if (await request.hasWritten(streamName(user.category, id), 'UserEmailChanged')) return known
  const envelope: Envelope<{ user: string }> = actingFor(
    { user: id },
    { ...request.envelope, actor: `user:${id}` },
  )
  const replaces = await claimOfAddress(dependencies, known.email)
  const { state } = await claiming(
    { dependencies, envelope },
    { category: user.category, id },
    {
      wanted: [wantedAddress(email)],
      take: (held) => {
        const data = { email, held: [...held], replaces, from: known.email, ...(link && { link }) }
        return request.send(user, id, { type: 'ChangeEmail', data })
      },
    },
  )
  return state as ActiveUser
}

type ChangeView = Static<typeof ContactChangeResource>

export function viewEmailChange(_: string, state: User): ChangeView | undefined {
  return state.status === 'active' && state.emailChange ? viewChange(state) : undefined
}

/** Only the newest change is known. */
export function viewNamedEmailChange(id: string, state: User, named: string): ChangeView | undefined {
  const shown = viewEmailChange(id, state)
  return shown?.id === named ? shown : undefined
}

function viewChange({ emailChange }: ActiveUser): ChangeView {
  const { link, email, status, expiresAt } = emailChange!
  return {
    id: link,
    object: 'contact_change',
    kind: 'email',
    new_value_hint: hintOf(email),
    status,
    expires_at: expiresAt,
  }
}

// Signing in without a password

export async function requestMagicLink(request: Request<{ email: string }>) {
  await requestLink(request, 'magic_link')
  return acknowledged('If somebody has registered with this address, a link is on its way')
}

/** Works while passwords are locked: who can open the mail is the user. */
export async function useMagicLink(request: Request<{ token: string }>) {
  const { id, link } = await openedLink(request, 'magic_link')
  const envelope = actingFor({ user: id }, { ...request.envelope, actor: `user:${id}` })
  const use = { type: 'UseMagicLink', data: { link } } as const
  const used = await request.dependencies.executor.send(user, id, use, envelope)
  const state = used.state as ActiveUser
  await unlock(request, state.email, link)
  if (state.totp) return issueTo(request, { purpose: 'sign_in', user: id, state })
  return startSession(request, { id, state }, { method: 'magic_link' })
}
