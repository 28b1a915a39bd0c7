import { user, type User } from '../../packages/domain/users/user.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { ClaimTaker } from './claims.ts'

/** How a user's stream takes the claims that make an address its own. */
export const userTaker: ClaimTaker = {
  decider: user,
  abandon: (id, { hold }) => to(user, id, { type: 'AbandonUserHold', data: { hold } }),
  has: (state: User, { hold }) => state.status === 'active' && state.held.some((one) => one.hold === hold),
}
