import { refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import type { SensitiveUpdate } from '../../../packages/domain/users/resources/phone-resources.ts'
import { user } from '../../../packages/domain/users/user.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { countMove, takeAddress, viewPersonalInfo } from './auth/contacts.ts'
import { requireFree, takePhone } from './auth/phones.ts'
import { askingOf } from './auth/sign-in-guards.ts'
import { knownUser, signedIn } from './auth/user-accounts.ts'
import { endBefore, newPassword } from './auth/users.ts'

/**
 * Address, number and password under one challenge, which the row has consumed. What can be refused comes
 * first; each step may be repeated by a try that ended in between.
 */
export async function updateSensitive(request: Request<Static<typeof SensitiveUpdate>>) {
  const { dependencies, body, id: link } = request
  const { user: id, session } = signedIn(request)
  const { newEmail, newPhone, newPassword: password } = body
  if (!newEmail && !newPhone && !password)
    refuseField('request_must_be_valid', '/newEmail', 'newEmail, newPhone or newPassword is required')
  const known = await knownUser(dependencies, id)
  const asking = askingOf(request, known.email)
  const isChanged = await request.hasWritten(streamName(user.category, id), 'UserPasswordChanged')
  const isNew =
    password && !isChanged && !(await dependencies.passwords.isRight(password, known.password, asking))
  const wanted = { dependencies, body: { newPassword: password! }, client: request.client }
  const hashed = isNew ? await newPassword(wanted, known) : null
  if (newPhone) await requireFree(dependencies, newPhone, id)
  await countMove(request, known)
  if (newEmail) {
    const state = await takeAddress(request, { id, known, email: newEmail })
    const verify = { type: 'RequestEmailVerification', data: { link } } as const
    if (!state.emailVerified) await request.send(user, id, verify)
  }
  if (newPhone) await takePhone(request, { id, known, phone: newPhone })
  if (hashed) {
    const data = { ...hashed, session, from: known.passwordChanges }
    await request.send(user, id, { type: 'ChangePassword', data })
    await endBefore(request, id, session)
  }
  return viewPersonalInfo(id, await knownUser(dependencies, id))!
}
