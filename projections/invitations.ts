import { invitation } from '../packages/domain/invitations/invitation.ts'
import { documents } from '../packages/kernel/projection.ts'

export const invitations = documents(invitation, {
  name: 'invitations',
  version: 1,
  columns: { status: 'text' },
  indexes: [['merchant', 'status', 'created']],
})
