import { refuse, type RefusalName } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { userSessions } from '../../../../packages/domain/sessions/user-sessions.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { authSession, sessionIn } from '../auth/auth-sessions.ts'
import { membershipIn } from './memberships.ts'
import { signedIn } from '../auth/user-accounts.ts'

/** Whoever is no member is told the same as of a merchant that does not exist. */
export async function switchTo(request: Request<unknown>, id: string, missing: RefusalName) {
  const { dependencies } = request
  const { user, session } = signedIn(request)
  if (!(await membershipIn(dependencies, user, id))) refuse(missing)
  const command = { type: 'SwitchMerchant', data: { session, merchant: id } } as const
  const isDone = await request.hasWritten(streamName(userSessions.category, user))
  const { state } = isDone
    ? await dependencies.executor.current(userSessions, user)
    : await request.send(userSessions, user, command)
  const known = sessionIn(state.active, session) ?? refuse('credential_must_not_be_expired')
  return authSession(dependencies, { user, session: known })
}

export function switchMerchant(request: Request<{ merchantId: string }>) {
  return switchTo(request, request.body.merchantId, 'merchant_must_exist')
}
