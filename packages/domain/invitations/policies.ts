import { policy, to } from '../../kernel/policy.ts'
import { merchant } from '../merchants/merchant.ts'
import type { InvitationEvents } from './invitation.ts'

export const admitInvited = policy<InvitationEvents>('admit who has accepted an invitation', {
  InvitationAccepted: ({ data, metadata }) => [
    to(merchant, metadata.merchant, { type: 'AdmitMember', data }),
  ],
})
