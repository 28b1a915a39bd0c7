import type { Family } from '../../contract/family.ts'
import { userPolicies } from './policies.ts'
import { userTimers } from './timers.ts'
import { user } from './user.ts'

/** The people who work for merchants. */
export const users: Family = {
  name: 'users',
  streams: [user],
  policies: userPolicies,
  timers: userTimers,
}
