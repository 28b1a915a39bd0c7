import type { Caller } from '../../../../packages/contract/access/callers.ts'
import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import { claim, claimedName, type Claim } from '../../../../packages/domain/claims/claim.ts'
import { user, type ActiveUser } from '../../../../packages/domain/users/user.ts'

export interface FoundUser {
  readonly id: string
  readonly state: ActiveUser
}

/** Who signs in with this address. It takes as long when nobody does. */
export async function userOf(
  { executor, blindIndex }: Pick<Dependencies, 'executor' | 'blindIndex'>,
  email: string,
): Promise<FoundUser | undefined> {
  const address = await claimOfAddress({ blindIndex }, email)
  // In place of a user's, so that an unknown address takes as long: each has its own, known or not by now.
  const nobody = await blindIndex(JSON.stringify(['nobody', email.trim().toLowerCase()]))
  const holderOf = (held: Claim) => (held.status === 'free' ? nobody : held.holder.id)
  const seen = executor.lastSeen(claim, address)
  // Usually it is the same as last time, and one query reads both.
  const [{ state: held }, usual] = await Promise.all([
    executor.current(claim, address),
    seen && executor.current(user, holderOf(seen)),
  ])
  const id = holderOf(held)
  const { state } = usual?.id === id ? usual : await executor.current(user, id)
  return id !== nobody && state.status === 'active' ? { id, state } : undefined
}

/** The stream that says whose an address is. */
export function claimOfAddress(
  { blindIndex }: Pick<Dependencies, 'blindIndex'>,
  email: string,
): Promise<string> {
  return blindIndex(claimedName('email', email, { platform: true }))
}

/** Who signed in is a user; one who was erased a moment ago is none any more. */
export async function knownUser(
  { executor }: Pick<Dependencies, 'executor'>,
  id: string,
): Promise<ActiveUser> {
  const { state } = await executor.current(user, id)
  return state.status === 'active' ? state : refuse('resource_must_exist')
}

export type SignedIn = Extract<Caller, { credential: 'user' }>

/** Rows for users take no other credential. */
export function signedIn({ caller }: Pick<Request, 'caller'>): SignedIn {
  if (caller.credential !== 'user') throw new Error(`a ${caller.credential} is no user`)
  return caller
}

/** What of the user's own the path names. */
export function namedInPath({ params }: Pick<Request, 'params'>): string {
  return params['id']!
}

/** A number that its user alone has shown to have. */
export function wantedPhone(value: string) {
  return { kind: 'phone', value, refusal: 'phone_must_be_free' } as const
}

export function wantedAddress(value: string) {
  return { kind: 'email', value, refusal: 'email_must_be_free' } as const
}
