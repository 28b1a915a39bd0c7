import { Refusal, refusals, refuse } from '../../../../packages/contract/refusals.ts'
import { credentialsOf, type Caller } from '../../../../packages/contract/access/callers.ts'
import type { AnyRoute } from '../../../../packages/contract/routes.ts'
import type { RateLimits } from '../rate-limit.ts'

/** What a request shows of its sender. */
export interface Presented {
  readonly authorization: string | undefined
  readonly address: string | undefined
  /** Header Ikw-Environment: a user session covers both environments. */
  readonly environment: string | undefined
}

/** Recognises one kind of credential by its form. All are registered in `services/api/authenticators.ts`. */
export interface Authenticator {
  /** Whether it is of this kind, valid or not. */
  recognises(authorization: string): boolean
  /** Whether it was valid a moment ago, so that nothing needs to be looked up. */
  knows?(authorization: string): boolean
  /** Throws the refusal. */
  authenticate(presented: Presented): Promise<Caller>
  close?(): Promise<void>
}

/** Acts for no merchant until its row finds the owner. */
const nobody: Caller = {
  credential: 'nobody',
  merchant: '00000000-0000-0000-0000-000000000000',
  livemode: false,
  actor: 'public',
}

interface Identifying {
  readonly authenticators: readonly Authenticator[]
  readonly rateLimits: Pick<RateLimits, 'checkGuesses' | 'countGuess'>
}

/** Who a request comes from, as far as its row accepts such credentials. */
export async function callerOf(
  { authenticators, rateLimits }: Identifying,
  route: AnyRoute,
  presented: Presented,
): Promise<Caller> {
  const taken = credentialsOf(route)
  const { authorization, address } = presented
  const takesNobody = taken.includes('nobody')
  if (takesNobody && (taken.length === 1 || authorization === undefined)) return nobody
  const authenticator = authenticators.find(({ recognises }) => recognises(authorization ?? ''))
  if (!authenticator?.knows?.(authorization ?? '')) await rateLimits.checkGuesses(address)
  const caller = await authenticated(authenticator, presented).catch(async (error: unknown) => {
    if (isUnauthenticated(error)) await rateLimits.countGuess(address)
    throw error
  })
  if (!taken.includes(caller.credential)) {
    refuse('credential_must_be_taken_here', { detail: `Give one of these: ${taken.join(', ')}` })
  }
  return caller
}

async function authenticated(
  authenticator: Authenticator | undefined,
  presented: Presented,
): Promise<Caller> {
  return authenticator?.authenticate(presented) ?? refuseUnknown(presented.authorization)
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof Refusal && refusals[error.reason][0] === 401
}

/** No accepted kind of credential has this form. */
function refuseUnknown(authorization: string | undefined): never {
  return refuse(authorization ? 'credential_must_be_well_formed' : 'credential_must_be_given')
}
