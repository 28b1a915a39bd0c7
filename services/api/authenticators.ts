import type { Dependencies } from '../../packages/contract/routes.ts'
import { missingStep } from './actions/onboarding.ts'
import { ApiKeys } from './http/authenticate.ts'
import type { Authenticator } from './http/credentials.ts'
import { KeyUses } from './http/key-uses.ts'
import { PortalTokens } from './http/portal-tokens.ts'
import { SignedInUsers } from './http/user-sessions.ts'

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
