import type { Family } from '../../contract/family.ts'
import { invitation } from './invitation.ts'
import { admitInvited } from './policies.ts'
import { invitationTimers } from './timers.ts'

/** How users come to work for a merchant that they have not founded. */
export const invitations: Family = {
  name: 'invitations',
  scopes: ['team.read', 'team.write'],
  streams: [invitation],
  policies: [admitInvited],
  timers: invitationTimers,
}
