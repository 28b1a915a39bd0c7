import { policy, to } from '../../kernel/policy.ts'
import { userSessions } from '../sessions/user-sessions.ts'
import type { MerchantEvents } from './merchant.ts'

export const endSessionsOfRemoved = policy<MerchantEvents>(
  'end the sessions of who is no member any more',
  {
    MerchantMemberRemoved: ({ id: merchant, data: { user } }) => [
      to(userSessions, user, { type: 'EndSessionsOfMerchant', data: { merchant } }),
    ],
  },
  // Only events that a policy follows have commands to send.
  ({ data }) => ({ user: 'user' in data ? data.user : '' }),
)
