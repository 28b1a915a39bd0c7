import type { Dependencies } from '../../packages/contract/routes.ts'
import { ApiKeys } from './http/authenticate.ts'
import type { Authenticator } from './http/credentials.ts'

/** Every kind of credential that this service knows; a row names those it accepts. */
export async function openAuthenticators({ store, clock }: Dependencies): Promise<readonly Authenticator[]> {
  return [new ApiKeys({ store, clock, head: await store.head() })]
}
