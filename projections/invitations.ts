import { invitation } from '../packages/domain/invitations/invitation.ts'
import { documents } from '../packages/kernel/projection.ts'

export const invitations = documents(invitation, {
  name: 'invitations',
  version: 2,
  columns: { status: 'text' },
  indexes: [['merchant', 'status', 'created']],
})
