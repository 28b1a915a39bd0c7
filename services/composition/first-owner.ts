import { derivedId } from '../../packages/contract/identity.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { claim, claimedName } from '../../packages/domain/claims/claim.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { organization } from '../../packages/domain/organizations/organization.ts'
import { user } from '../../packages/domain/users/user.ts'
import { claiming } from './claiming.ts'

interface Owning {
  readonly merchant_id: string
  readonly owner_email: string
  readonly owner_password: string
}

const owners = 'c1d8b1de-44c4-5c57-9a0b-0a1f9a4f7f6e'

function ownerOf(merchantId: string): string {
  return derivedId(owners, `user ${merchantId}`)
}

/** Then the password is the one that was registered. */
export async function isOwnerKnown({ executor }: Dependencies, merchantId: string): Promise<boolean> {
  return (await executor.current(user, ownerOf(merchantId))).state.status !== 'none'
}

/** Somebody has registered with it. */
export async function isAddressTaken(
  { executor, blindIndex }: Dependencies,
  email: string,
): Promise<boolean> {
  const address = await blindIndex(claimedName('email', email, { platform: true }))
  return (await executor.current(claim, address)).state.status !== 'free'
}

/** The first merchant's owner, who signs in with the password in the credentials file. */
export async function firstOwner(dependencies: Dependencies, credentials: Owning): Promise<void> {
  const { merchant_id: id } = credentials
  const [person, unit] = [ownerOf(id), derivedId(owners, `organization ${id}`)]
  await registerOwner(dependencies, person, credentials)
  const sending = { actor: 'first start', correlation: dependencies.newId() }
  const { executor } = dependencies
  const organized = {
    displayName: 'First merchant',
    country: 'SN',
    type: 'company',
    parent: null,
    merchant: id,
  } as const
  await executor.send(
    organization,
    unit,
    { type: 'CreateOrganization', data: organized },
    { organization: unit, ...sending },
  )
  for (const command of [
    { type: 'OrganizeMerchant', data: { organization: unit } },
    { type: 'AddMember', data: { user: person, role: 'owner' } },
    { type: 'OpenToLive', data: {} },
  ] as const)
    await executor.send(merchant, id, command, { merchant: id, livemode: false, ...sending })
}

/** Hashing takes longer than everything else of a start, so who is known already is left alone. */
async function registerOwner(dependencies: Dependencies, id: string, owning: Owning): Promise<void> {
  const { executor, passwords, newId } = dependencies
  const envelope = { user: id, actor: 'first start', correlation: newId() }
  const { state: known } = await executor.current(user, id)
  const { owner_email: email, owner_password: password, merchant_id: works } = owning
  if (known.status === 'active') {
    const isConfirmed = known.emailVerified || known.email !== email
    if (!isConfirmed) await executor.send(user, id, { type: 'ConfirmEmail', data: {} }, envelope)
    return
  }
  const registered = {
    email,
    name: 'First owner',
    phone: null,
    language: 'fr',
    password: await passwords.hash(password, []),
    merchant: works,
    founded: null,
    // Made up here, so nobody else will ever have it.
    verified: ['email'],
  } as const
  const wanted = [{ kind: 'email', value: email, refusal: 'email_must_be_free' } as const]
  const take = (held: readonly { claim: string; hold: string }[]) =>
    executor.send(user, id, { type: 'RegisterUser', data: { ...registered, held: [...held] } }, envelope)
  await claiming({ dependencies, envelope }, { category: user.category, id }, { wanted, take })
}
