import { refuse } from '../../../packages/contract/refusals.ts'
import { credentialsOf, type Caller, type Challenges } from '../../../packages/contract/callers.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'

/** What a request shows of who sends it. */
export interface Presented {
  readonly authorization: string | undefined
  readonly address: string | undefined
  /** Header Ikw-Environment: a user's session is for both. */
  readonly environment: string | undefined
}

/** Knows one kind of credential by its form. All are registered in `services/api/authenticators.ts`. */
export interface Authenticator {
  /** Whether this is one of them, right or wrong. */
  recognises(authorization: string): boolean
  /** Throws what is refused. */
  authenticate(presented: Presented): Promise<Caller>
  close?(): Promise<void>
}

/** Acts for no merchant, until its row says for whom. */
const nobody: Caller = {
  credential: 'nobody',
  merchant: '00000000-0000-0000-0000-000000000000',
  livemode: false,
  actor: 'public',
}

/** Who a request comes from, as far as its row takes such credentials. */
export async function callerOf(
  authenticators: readonly Authenticator[],
  route: AnyRoute,
  presented: Presented,
): Promise<Caller> {
  const taken = credentialsOf(route)
  const { authorization } = presented
  const takesNobody = taken.includes('nobody')
  if (takesNobody && (taken.length === 1 || authorization === undefined)) return nobody
  const authenticator = authenticators.find(({ recognises }) => recognises(authorization ?? ''))
  const caller = await (authenticator?.authenticate(presented) ?? refuseUnknown(presented.authorization))
  if (!taken.includes(caller.credential)) {
    refuse('credential_must_be_taken_here', { detail: `Give one of these: ${taken.join(', ')}` })
  }
  return caller
}

/** Until users can prove who they are, nothing that asks for it is done. */
export const noChallenges: Challenges = {
  consume: async () => refuse('challenge_must_be_verified'),
}

/** No kind of credential that is taken here is written so. */
function refuseUnknown(authorization: string | undefined): never {
  return refuse(authorization ? 'credential_must_be_well_formed' : 'credential_must_be_given')
}
