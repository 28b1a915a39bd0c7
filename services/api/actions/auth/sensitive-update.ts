import { refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import type { SensitiveUpdate } from '../../../../packages/domain/users/resources/phone-resources.ts'
import { user, type ActiveUser, type UserCommands } from '../../../../packages/domain/users/user.ts'
import { streamName, type Message } from '../../../../packages/kernel/decider.ts'
import { claiming, type HeldClaim } from '../../../composition/claiming.ts'
import { countMove, viewPersonalInfo } from './contacts.ts'
import { claimOfPhone, requireFree } from './phones.ts'
import { queueKeysOf } from './sign-in-guards.ts'
import { claimOfAddress, knownUser, signedIn, wantedAddress } from './user-accounts.ts'
import { endBefore, newPassword } from './users.ts'

type Updating = Request<Static<typeof SensitiveUpdate>>

/** Address, number and password under one challenge, which the row has consumed: all of it or nothing. */
export async function updateSensitive(request: Updating) {
  const { dependencies, body } = request
  const { user: id } = signedIn(request)
  if (!body.newEmail && !body.newPhone && !body.newPassword)
    refuseField('request_must_be_valid', '/newEmail', 'newEmail, newPhone or newPassword is required')
  if (!(await request.hasWritten(streamName(user.category, id))))
    await update(request, await knownUser(dependencies, id))
  return viewPersonalInfo(id, await knownUser(dependencies, id))!
}

async function update(request: Updating, known: ActiveUser): Promise<void> {
  const { dependencies, body, envelope } = request
  const { newEmail: email } = body
  const { user: id, session } = signedIn(request)
  const hashed = await hashedUnlessSame(request, known)
  if (body.newPhone) await requireFree(dependencies, body.newPhone, id)
  await countMove(request, known)
  const change = hashed && { ...hashed, session, from: known.passwordChanges }
  const take = async (held: readonly HeldClaim[]) => {
    const commands = [
      ...(email ? await moves(request, { known, email, held }) : []),
      ...(body.newPhone ? [await calls(request, known, body.newPhone)] : []),
      ...(change ? [{ type: 'ChangePassword', data: change } as const] : []),
    ].map((command) => ({ command, envelope }))
    request.showed((await dependencies.executor.sendAll(user, id, commands)).position)
  }
  const wanted = email ? [wantedAddress(email)] : []
  const context = { dependencies, envelope: { ...envelope, actor: `user:${id}` } }
  await claiming(context, { category: user.category, id }, { wanted, take })
  if (change) await endBefore(request, id)
}

async function hashedUnlessSame(request: Updating, known: ActiveUser) {
  const { dependencies, body, client } = request
  const { newPassword: password } = body
  const keys = queueKeysOf(request, known.email)
  if (!password || (await dependencies.passwords.isRight(password, known.password, keys))) return undefined
  return newPassword({ dependencies, body: { newPassword: password }, client }, known)
}

type UserCommand = Message<UserCommands>

interface Moving {
  readonly known: ActiveUser
  readonly email: string
  readonly held: readonly HeldClaim[]
}

/** To another address, to which a link goes. */
async function moves(
  { dependencies, id: link }: Updating,
  { known, email, held }: Moving,
): Promise<readonly UserCommand[]> {
  const replaces = await claimOfAddress(dependencies, known.email)
  const data = { email, held: [...held], replaces, from: known.email }
  const verify = { type: 'RequestEmailVerification', data: { link, ifLacking: true } } as const
  return [{ type: 'ChangeEmail', data }, verify]
}

/** To a number that nothing proves, so it is nobody's alone. */
async function calls({ dependencies }: Updating, known: ActiveUser, phone: string): Promise<UserCommand> {
  const replaces = await claimOfPhone(dependencies, known.phone ?? phone)
  return { type: 'ChangePhone', data: { phone, held: [], replaces, from: known.phone } }
}
