import { claim } from '../../packages/domain/claims/claim.ts'
import { merchant, type Merchant } from '../../packages/domain/merchants/merchant.ts'
import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { endOfSessions } from '../../packages/domain/users/ended-sessions.ts'
import { user } from '../../packages/domain/users/user.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import type { Runtime } from '../composition/dependencies.ts'

/** A user's own part of the name of a person. */
export function userIn(subjects: readonly string[]): string | undefined {
  const prefix = `${user.category}/`
  return subjects.find((subject) => subject.startsWith(prefix))?.slice(prefix.length)
}

export interface Membership {
  readonly merchant: string
  readonly state: Exclude<Merchant, { status: 'none' }>
}

/** The merchants that a user works for, as their own streams say. */
export async function membershipsOf(
  store: Pick<EventStore, 'readOn' | 'readStream'>,
  id: string,
): Promise<readonly Membership[]> {
  const joined = new Set<string>()
  for await (const events of store.readOn(0)) {
    for (const { type, stream, data } of events)
      if (type === 'MerchantMemberAdded' && (data as { readonly user: string }).user === id)
        joined.add(stream.slice(merchant.category.length + 1))
  }
  const found: Membership[] = []
  for (const one of joined) {
    const state: Merchant = await readState(store, merchant, one)
    if (state.status !== 'none' && id in state.members) found.push({ merchant: one, state })
  }
  return found
}

/** Why the user cannot leave yet: nobody could work for a merchant any more. */
export function neededBy(memberships: readonly Membership[], id: string): readonly string[] {
  const isNeeded = ({ state }: Membership) => state.status === 'active' && isOnlyOwner(state, id)
  return memberships
    .filter(isNeeded)
    .map(({ merchant: one }) => `merchant ${one} has no other owner: give it one, or suspend it`)
}

function isOnlyOwner({ members }: Membership['state'], id: string): boolean {
  return members[id] === 'owner' && Object.values(members).filter((role) => role === 'owner').length === 1
}

interface Leaving {
  readonly id: string
  readonly by: string
}

/** Ends the account: nobody signs in to it, and its sessions are over. Repeats do nothing. */
export async function leave(
  { dependencies: { executor, newId } }: Runtime,
  { id, by }: Leaving,
  memberships: readonly Membership[],
): Promise<void> {
  const signed = { actor: `cli:${by}`, correlation: newId() }
  for (const { merchant: one, state } of memberships) {
    if (isOnlyOwner(state, id)) continue
    const envelope = { merchant: one, livemode: false, ...signed }
    await executor.send(merchant, one, { type: 'RemoveMember', data: { user: id } }, envelope)
  }
  const own = { user: id, ...signed }
  const { state } = await executor.send(user, id, { type: 'LeaveUser', data: {} }, own)
  await executor.send(userSessions, id, endOfSessions(state), own)
}

/** Lets others register with the address of a user who has left. */
export async function freeClaims({ dependencies }: Runtime, { id, by }: Leaving): Promise<void> {
  const { executor, newId } = dependencies
  const { state } = await executor.current(user, id)
  if (state.status !== 'left') return
  const envelope = { platform: true, actor: `cli:${by}`, correlation: newId() } as const
  for (const { claim: held, hold } of state.held)
    await executor.send(claim, held, { type: 'FreeClaim', data: { hold } }, envelope)
}
