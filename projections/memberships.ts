import type { MerchantEvents } from '../packages/domain/merchants/merchant.ts'
import { projection } from '../packages/kernel/projection.ts'

/** For which merchants a user works. What somebody may do is read from the merchant's stream. */
export const memberships = projection<MerchantEvents>()({
  name: 'memberships',
  version: 1,
  columns: { merchant: 'text', user: 'text', role: 'text', position: 'bigint' },
  key: ['merchant', 'user'],
  indexes: [['user', 'position']],
  on: {
    MerchantMemberAdded: ({ id: merchant, data: { user, role }, position }) => [
      { put: { merchant, user, role, position } },
    ],
    MerchantMemberRemoved: ({ id: merchant, data: { user } }) => [{ remove: { merchant, user } }],
  },
})
