import { invitation } from '../../packages/domain/invitations/invitation.ts'
import { ownerOf } from '../../packages/kernel/owner.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import type { Person } from './person.ts'

const prefix = `${invitation.category}/`

/** The invitations that a user has accepted: each is its merchant's, and says who was invited. */
export async function invitationsOf(
  store: Pick<EventStore, 'readOn'>,
  user: string,
): Promise<readonly Person[]> {
  const found: Person[] = []
  for await (const events of store.readOn(0)) {
    for (const { type, stream, data, metadata } of events) {
      if (type !== 'InvitationAccepted' || (data as { readonly user: string }).user !== user) continue
      const id = stream.slice(invitation.category.length + 1)
      found.push({ owner: ownerOf(metadata), subjects: [prefix + id] })
    }
  }
  return found
}

/** Whoever is known as this alone was invited by an address that other things have, too. */
export function isInvitation(subjects: readonly string[]): boolean {
  return subjects.every((subject) => subject.startsWith(prefix))
}
