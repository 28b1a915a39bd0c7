import type { Dependencies } from '../../packages/contract/routes.ts'
import { user } from '../../packages/domain/users/user.ts'
import { userOf } from '../api/actions/auth/user-accounts.ts'
import { languageIn } from '../api/actions/auth/sign-up.ts'
import { claiming } from '../composition/claiming.ts'

interface Owning {
  readonly merchant: string
  readonly country: string
  readonly sending: { readonly actor: string; readonly correlation: string }
}

/**
 * The user with this address. Who is new has no password yet, and is mailed a link to choose one; later a
 * forgotten password does the same.
 */
export async function ownerWith(
  dependencies: Dependencies,
  email: string,
  { merchant, country, sending }: Owning,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const known = await userOf(dependencies, email)
  if (known) return { id: known.id, isNew: false }
  const { executor, newId } = dependencies
  const id = newId()
  const envelope = { user: id, ...sending }
  const [name = email] = email.split('@')
  const person = { email, name, phone: null, language: languageIn(country), password: null }
  const wanted = [{ kind: 'email', value: email, refusal: 'email_must_be_free' } as const]
  const take = (held: readonly { claim: string; hold: string }[]) => {
    const data = { ...person, held: [...held], merchant, founded: null }
    return executor.send(user, id, { type: 'RegisterUser', data }, envelope)
  }
  await claiming({ dependencies, envelope }, { category: user.category, id }, { wanted, take })
  await executor.send(user, id, { type: 'RequestPasswordReset', data: { link: newId() } }, envelope)
  return { id, isNew: true }
}
