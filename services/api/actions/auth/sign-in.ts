import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { signInGuard, type MailedPurpose } from '../../../../packages/domain/sign-in/sign-in-guard.ts'
import { startSession } from './auth-sessions.ts'
import { issueTo } from './challenges.ts'
import { askerOf, queueKeysOf, guarding, guardOfAccount, openByPassword } from './sign-in-guards.ts'
import { claimOfAddress, userOf } from './user-accounts.ts'

/**
 * Signs in with e-mail and password. Whether somebody has the address or not, the same is read, written and
 * hashed, so that neither answer nor time tells.
 */
export async function login(request: Request<{ email: string; password: string }>) {
  const { dependencies, body } = request
  dependencies.passwords.requireRoom(queueKeysOf(request, body.email))
  const known = userOf(dependencies, body.email)
  const opened = await openByPassword(request, { ...body, known }, async (found, confirm) => {
    const { id, state } = found
    if (!state.totp) return startSession(request, found, { method: 'password', confirm })
    await confirm()
    return issueTo(request, { purpose: 'sign_in', user: id, state })
  })
  return opened ?? refuse('email_and_password_must_be_right')
}

/** Asks for a mail to this address. Who has it is looked up after the answer, which is the same for all. */
export async function requestLink(
  request: Request<{ email: string }>,
  purpose: MailedPurpose,
): Promise<void> {
  const { dependencies, body, envelope } = request
  const data = {
    link: dependencies.newId(),
    purpose,
    user: null,
    claim: await claimOfAddress(dependencies, body.email),
    asker: await askerOf(request),
    isLimited: dependencies.limitsCounts,
  }
  const id = await guardOfAccount(dependencies, body.email)
  await dependencies.executor.send(signInGuard, id, { type: 'RequestSignInLink', data }, guarding(envelope))
}
