import type { Family } from '../../contract/family.ts'
import { merchant } from './merchant.ts'
import { endSessionsOfRemoved } from './policies.ts'

export const merchants: Family = {
  name: 'merchants',
  streams: [merchant],
  policies: [endSessionsOfRemoved],
}
