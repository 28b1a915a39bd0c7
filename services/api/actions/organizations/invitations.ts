import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import {
  invitation,
  statusOf,
  type ExistingInvitation,
} from '../../../../packages/domain/invitations/invitation.ts'
import type { Acceptance } from '../../../../packages/domain/invitations/resource.ts'
import { isBacked, merchant } from '../../../../packages/domain/merchants/merchant.ts'
import { user as users } from '../../../../packages/domain/users/user.ts'
import { actingFor, type Envelope } from '../../../../packages/kernel/envelope.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { claiming } from '../../../composition/claiming.ts'
import { startSession } from '../auth/auth-sessions.ts'
import { issueTo } from '../auth/challenges.ts'
import { membershipIn } from './memberships.ts'
import { queueKeysOf } from '../auth/sign-in-guards.ts'
import { requireStrong } from '../auth/sign-up.ts'
import { knownUser, userOf, wantedAddress, type FoundUser } from '../auth/user-accounts.ts'
import { endBefore, openedLink } from '../auth/users.ts'

type Accepting = Request<Static<typeof Acceptance>>

/**
 * The mailed link proves the address: whoever has an account with it joins, anybody else gets one. Each step
 * may be repeated, so a try that ended in between is gone on with.
 */
export async function acceptInvitation(request: Accepting) {
  const { dependencies, envelope } = request
  const { id, link } = await openedLink(request, 'invitation')
  const invited = await openInvitation(dependencies, id, link)
  const found = await userOf(dependencies, invited.email)
  if (found && (await membershipIn(dependencies, found.id, invited.merchant)))
    refuse('user_must_not_be_a_member_yet')
  const user = found?.id ?? (await register(request, invited))
  if (found && !found.state.emailVerified) await takeOver(request, found)
  // Somebody may have been removed while the password was hashed.
  await requireInviter(dependencies, invited)
  const own = actingFor(
    { merchant: invited.merchant, livemode: false },
    { ...envelope, actor: `user:${user}` },
  )
  const { executor } = dependencies
  const accept = { type: 'AcceptInvitation', data: { link, user } } as const
  const { appended } = await executor.send(invitation, id, accept, own)
  // Of several at once, only the first is let in by it.
  if (appended === 0) refuse('token_must_be_valid')
  // What the policy does a moment later, so that the session can work at once.
  const admit = { type: 'AdmitMember', data: { user, role: invited.role, link } } as const
  await executor.send(merchant, invited.merchant, admit, own)
  const state = await knownUser(dependencies, user)
  if (state.totp) return issueTo(request, { purpose: 'sign_in', user, state })
  return startSession(request, { id: user, state }, { method: 'invitation', merchant: invited.merchant })
}

async function openInvitation(
  dependencies: Dependencies,
  id: string,
  link: string,
): Promise<ExistingInvitation> {
  const { store, clock } = dependencies
  const state = await readState(store, invitation, id)
  if (state.status === 'none' || state.link !== link || state.status === 'accepted')
    return refuse('token_must_be_valid')
  if (statusOf(state, clock()) !== 'pending') refuse('invitation_must_be_open')
  await requireInviter(dependencies, state)
  return state
}

/** Whoever is removed, or may no longer invite, lets nobody in afterwards, and so not themselves. */
async function requireInviter({ executor }: Dependencies, invited: ExistingInvitation): Promise<void> {
  const { state } = await executor.current(merchant, invited.merchant)
  if (!isBacked(state, invited)) refuse('invitation_must_be_open', { detail: inviterIsGone })
}

const inviterIsGone = 'Whoever sent this invitation may no longer invite: ask the merchant for another one'

/** Somebody who is new here, whose address needs no other proof. */
async function register(request: Accepting, invited: ExistingInvitation): Promise<string> {
  const { dependencies, body, id } = request
  const name = body.name ?? invited.name ?? refuseField('request_must_be_valid', '/name', 'name is required')
  const password = await newPassword(request, [invited.email, name])
  const registered = {
    email: invited.email,
    name,
    phone: null,
    language: invited.language,
    password,
    merchant: invited.merchant,
    founded: null,
  }
  const envelope = ofUser(request, id)
  const wanted = [wantedAddress(invited.email)]
  await claiming(
    { dependencies, envelope },
    { category: users.category, id },
    {
      wanted,
      take: (held) => {
        const data = { ...registered, held: [...held] }
        const commands = [
          { type: 'RegisterUser', data },
          { type: 'ConfirmEmail', data: {} },
        ].map((command) => ({ command, envelope }))
        return dependencies.executor.sendAll(users, id, commands)
      },
    },
  )
  return id
}

/**
 * Whoever registered this address never showed to have its mailbox, and may be another one who waits for an
 * invitation: from now on the account belongs to who opened the link, with another password.
 */
async function takeOver(request: Accepting, { id, state }: FoundUser): Promise<void> {
  const { executor } = request.dependencies
  const password = await newPassword(request, [state.email, state.name])
  const envelope = ofUser(request, id)
  await executor.send(users, id, { type: 'TakeOver', data: { password } }, envelope)
  await endBefore(request, id)
}

async function newPassword(request: Accepting, known: readonly [email: string, name: string]) {
  const { dependencies, body } = request
  const password = body.password ?? refuseField('request_must_be_valid', '/password', 'password is required')
  await requireStrong(dependencies, '/password', { password, known })
  return dependencies.passwords.hash(password, queueKeysOf(request, known[0]))
}

function ofUser({ envelope }: Accepting, user: string): Envelope<{ readonly user: string }> {
  return actingFor({ user }, { ...envelope, actor: `user:${user}` })
}
