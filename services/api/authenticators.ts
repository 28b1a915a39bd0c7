import type { Dependencies } from '../../packages/contract/routes.ts'
import { missingStep } from './actions/auth/onboarding.ts'
import { ApiKeys } from './http/credentials/authenticate.ts'
import type { Authenticator } from './http/credentials/credentials.ts'
import { KeyUses } from './http/credentials/key-uses.ts'
import { PortalTokens } from './http/credentials/portal-tokens.ts'
import { SignedInUsers } from './http/credentials/user-sessions.ts'

/** Every kind of credential that this service knows; a row names those it accepts. */
export async function openAuthenticators(dependencies: Dependencies): Promise<readonly Authenticator[]> {
  const { store, executor, clock, tokens } = dependencies
  const head = await store.head()
  const uses = new KeyUses(dependencies)
  return [
    new ApiKeys({ store, executor, clock, head, uses }),
    new SignedInUsers({
      store,
      executor,
      clock,
      tokens,
      head,
      missingStep: (asking) => missingStep(dependencies, asking),
    }),
    new PortalTokens(dependencies),
  ]
}
