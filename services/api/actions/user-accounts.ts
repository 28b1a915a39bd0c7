import type { Caller } from '../../../packages/contract/callers.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../packages/contract/routes.ts'
import { claim, claimedName } from '../../../packages/domain/claims/claim.ts'
import { user, type ActiveUser } from '../../../packages/domain/users/user.ts'
import { readCurrent, readState } from '../../../packages/kernel/history.ts'

type Reading = Pick<Dependencies, 'store' | 'blindIndex'>

export interface FoundUser {
  readonly id: string
  readonly state: ActiveUser
  readonly revision: number
}

/** A stream without events, read in place of a user's so that an unknown address takes as long. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** Who signs in with this address. It takes as long when nobody does. */
export async function userOf({ store, blindIndex }: Reading, email: string): Promise<FoundUser | undefined> {
  const name = claimedName('email', email, { platform: true })
  const held = await readState(store, claim, await blindIndex(name))
  const id = held.status === 'free' ? undefined : held.holder.id
  const { state, revision } = await readCurrent(store, user, id ?? nobody)
  return id !== undefined && state.status === 'active' ? { id, state, revision } : undefined
}

/** Who signed in is a user; one who was erased a moment ago is none any more. */
export async function knownUser({ store }: Reading, id: string): Promise<ActiveUser> {
  const state = await readState(store, user, id)
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
