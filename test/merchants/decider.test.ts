import { v7 } from 'uuid'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { scenarios } from '../support/scenarios.ts'

const [awa, ibra, link, newer] = [v7(), v7(), v7(), v7()]
const details = { name: 'Boutique', country: 'CI', currency: 'XOF', email: 'awa@example.com' }
const created = { type: 'MerchantCreated', data: details } as const
const added = (user: string, role: 'owner' | 'admin', by: string | null = null) => ({
  type: 'MerchantMemberAdded' as const,
  data: { user, role, link: by },
})
const removed = { type: 'MerchantMemberRemoved', data: { user: awa } } as const
const remove = { type: 'RemoveMember', data: { user: awa } } as const

scenarios(merchant, {
  'a merchant is created with its owner': {
    when: { type: 'CreateMerchant', data: { ...details, owner: awa } },
    then: [created, added(awa, 'owner')],
  },
  'the last owner cannot leave': {
    given: [created, added(awa, 'owner'), added(ibra, 'admin')],
    when: remove,
    then: 'merchant_must_keep_an_owner',
  },
  'nor become anything else': {
    given: [created, added(awa, 'owner'), added(ibra, 'admin')],
    when: { type: 'AddMember', data: { user: awa, role: 'admin' } },
    then: 'merchant_must_keep_an_owner',
  },
  'an owner leaves where there is another one': {
    given: [created, added(awa, 'owner'), added(ibra, 'owner')],
    when: remove,
    then: [removed],
    again: 'resource_must_exist',
  },
  'who is no member is not removed': { given: [created], when: remove, then: 'resource_must_exist' },
  'who is a member already stays what they are': {
    given: [created, added(awa, 'owner')],
    when: { type: 'AdmitMember', data: { user: awa, role: 'support', link } },
    then: [],
  },
  'who was invited is admitted': {
    given: [created, added(awa, 'owner')],
    when: { type: 'AdmitMember', data: { user: ibra, role: 'admin', link } },
    then: [added(ibra, 'admin', link)],
  },
  'who was removed is not admitted again by an invitation that a policy tells late': {
    given: [created, added(ibra, 'owner'), added(awa, 'admin', link), removed],
    when: { type: 'AdmitMember', data: { user: awa, role: 'admin', link } },
    then: [],
  },
  'but by another one': {
    given: [created, added(ibra, 'owner'), added(awa, 'admin', link), removed],
    when: { type: 'AdmitMember', data: { user: awa, role: 'admin', link: newer } },
    then: [added(awa, 'admin', newer)],
  },
})
